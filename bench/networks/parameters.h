// Parameters of networks, equal in every worker.
#pragma once

#include <cmath>

#include "../sinter_cases.h"

namespace bench {

/// Parameters that every worker can make, such that what flows through the network neither grows nor dies: of
/// parameter i uniform(.., 10 + i), times sqrt(12 / fan in) in weights, by 10 in what has one axis, there around 1 in
/// the weights of norms.
template <class Model>
void set_parameters(Model& model) {
  sinter::no_grad guard;
  uint32_t seed = 10;
  for (auto& [name, parameter] : sinter::nn::named_parameters(model)) {
    const sinter::Tensor values = input(parameter.shape(), seed++);
    if (parameter.rank() == 1) {
      parameter.assign(values * 0.1 + (name.ends_with("weight") ? 1.0 : 0.0));
    } else {
      const double fan_in = static_cast<double>(parameter.numel() / parameter.size(0));
      parameter.assign(values * std::sqrt(12 / fan_in));
    }
    parameter.realize();
  }
}

}  // namespace bench

// Parameters as one vector.
#include "sinter/nn/parameter_vector.h"

#include "nn/layer_checks.h"
#include "sinter/gradient.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {

using namespace tensor;

Tensor parameters_to_vector(const std::vector<Tensor>& parameters, Loc where) {
  const OuterCall call("parameters_to_vector", where);
  if (parameters.empty()) usage_error("there are 0 tensors; give at least 1, such as nn::parameters(model)");
  std::vector<Tensor> parts = ir::mapped(parameters, [](const Tensor& p) { return p.flatten(); });
  return cat(parts, 0);
}

void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters, Loc where) {
  const OuterCall call("vector_to_parameters", where);
  int64_t count = 0;
  for (const Tensor& p : parameters) count += p.numel();
  if (vector.rank() != 1 || vector.numel() != count)
    usage_error("the vector has shape {} and the {} tensors have {} elements; give [{}]", to_string(vector.shape()),
                parameters.size(), count, count);
  const no_grad guard;
  const Tensor whole = vector.detach();  // a parameter may be the vector itself
  int64_t at = 0;
  for (Tensor p : parameters) {
    const int64_t end = at + p.numel();
    p.assign(whole.slice(0, {at, end}).reshape(p.shape()).to(p.device()));
    at = end;
  }
}

}  // namespace sinter::inline v0::nn

// The weights of the layers of include/sinter/nn/conv.h.
#include "sinter/nn/conv.h"

#include <fmt/core.h>

#include <cmath>

#include "nn/layer_checks.h"
#include "sinter/nn/init.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {

using namespace tensor;

/// Weight and bias share one uniform bound: PyTorch's kaiming_uniform with a = sqrt(5).
ConvWeights::ConvWeights(const char* layer, size_t axes, int64_t in, int64_t out, const PerAxis& kernel, int64_t groups,
                         bool transposed, bool with_bias, Loc where) {
  const OuterCall call(layer, where);
  require_size(fmt::format("{}: in", layer), in, where);
  require_size(fmt::format("{}: out", layer), out, where);
  if (groups < 1 || in % groups || out % groups)
    usage_error_at(where, "{}: {} channels in and {} out do not fall into {} groups; choose a divisor of both", layer,
                   in, out, groups);
  std::vector<int64_t> sizes = kernel.numbers();
  if (sizes.size() == 1) sizes.resize(axes, sizes[0]);
  if (sizes.size() != axes)
    usage_error_at(where, "{}: {} sizes of a kernel with {} axes; give one number, or one for each", layer,
                   sizes.size(), axes);
  const int64_t rows = transposed ? in : out, each = (transposed ? out : in) / groups;
  Shape shape{rows, each};
  auto fan_in = static_cast<double>(each);
  for (int64_t k : sizes) {
    require_size(fmt::format("{}: kernel", layer), k, where);
    shape.push_back(k);
    fan_in *= static_cast<double>(k);
  }
  const double bound = 1.0 / std::sqrt(fan_in);
  weight = init::uniform(shape, -bound, bound).requires_grad();
  if (with_bias) bias = init::uniform({out}, -bound, bound).requires_grad();
}

}  // namespace sinter::inline v0::nn

#include "surface/view.h"

#include <numeric>

#include "unit/tensor_support.h"

namespace surface {

namespace {

constexpr int64_t kBefore = 2, kAfter = 1;
constexpr double kOther = 77;  ///< in the border; every type holds it

Tensor stored(const Tensor& x) {
  const sinter::testing::ScopedExecutor executing(sinter::debug::Executor::Interpreter);
  return x.clone().realize();
}

}  // namespace

Tensor as_view(const Tensor& x, bool differentiated) {
  if (x.rank() == 0) return as_view(x.reshape({1}), differentiated).reshape({});
  std::vector<int64_t> reversed(static_cast<size_t>(x.rank()));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const std::vector<std::pair<int64_t, int64_t>> border(reversed.size(), {kBefore, kAfter});
  Tensor memory = stored(x.permute(reversed).flip().pad(border, kOther));
  if (differentiated) memory = memory.requires_grad();
  Tensor view = memory;
  for (size_t axis = 0; axis < reversed.size(); ++axis)
    view = view.slice(static_cast<int64_t>(axis), {.begin = kBefore, .end = -kAfter});
  return view.flip().permute(reversed);
}

}  // namespace surface

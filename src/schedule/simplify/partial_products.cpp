#include "schedule/simplify/partial_products.h"

#include "ir/build.h"
#include "ir/contains.h"

namespace sinter::schedule {
namespace {

using ir::UOp;

constexpr int64_t kTaskResults = 64 * 64;  ///< results that one task computes

}  // namespace

std::optional<PartialProducts> partial_products(const std::vector<UOp>& values, const ir::Ints& axes,
                                                const ir::ReductionTree& tree, const runtime::Target& target) {
  if (!target.cuda() || tree.block == 0 || tree.lanes > 1) return {};
  const Shape& shape = values[0]->shape;
  const auto size = [&](int64_t axis) { return shape[axis]; };
  const auto summed = [&](int64_t axis) { return ir::contains(axes, axis); };
  int64_t results = 1;
  for (int64_t a = 0; a < static_cast<int64_t>(shape.rank()); ++a) {
    if (summed(a) && size(a).symbolic()) return {};
    if (!summed(a)) results *= size(a).bound();
  }
  if (results >= target.threads * kTaskResults) return {};
  size_t outer = axes.size();  // axes of which a block has one value or a part
  int64_t inside = 1;
  while (outer > 0 && inside * size(axes[outer - 1]).value() <= tree.block) inside *= size(axes[--outer]).value();
  if (outer == 0 || tree.block % inside) return {};
  const int64_t part = tree.block / inside, cut = axes[outer - 1];
  if (size(cut).value() % part) return {};

  PartialProducts made{values, {}, {}, size(cut).value() / part};
  for (size_t i = 0; i + 1 < outer; ++i) made.count *= size(axes[i]).value();
  if (results * made.count * 4 > target.l2) return {};
  const int64_t more = part > 1;  // by which axes behind `cut` move
  if (part > 1) {
    Shape halves;
    for (int64_t a = 0; a < static_cast<int64_t>(shape.rank()); ++a) {
      if (a == cut) halves.push_back(size(a).value() / part);
      halves.push_back(a == cut ? Dim(part) : size(a));
    }
    for (UOp& v : made.values) v = ir::reshape(v, halves);
    made.axes.push_back(cut + 1);
  }
  for (size_t i = outer; i < axes.size(); ++i) made.axes.push_back(axes[i] + more);
  // Before `cut` nothing is summed by the first step.
  for (size_t i = 0; i < outer; ++i) made.blocks.push_back(axes[i]);
  return made;
}

}  // namespace sinter::schedule

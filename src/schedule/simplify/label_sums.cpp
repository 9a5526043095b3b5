// Finds products with the mask of labels, and writes them as scatters.
#include <algorithm>
#include <limits>
#include <optional>

#include "ir/contains.h"
#include "ir/one_axis.h"
#include "schedule/graph/rebuild_plan.h"
#include "schedule/simplify/simplify.h"
#include "schedule/simplify/strides.h"

namespace sinter::schedule {
namespace {

constexpr int64_t kFewestClasses = 8;     // of fewer, the product is as fast
constexpr int64_t kFewestRows = 1024;     // and of fewer rows,
constexpr int64_t kRowsPerClass = 8;      // or of fewer for each class, the tables are as large as what is added
constexpr int64_t kMaxClasses = 1 << 30;  // their numbers fit int32

/// `label == 0, 1, .. classes - 1` in the shape of the product, with the classes along `axis`.
struct Mask {
  UOp label;
  size_t axis;
};

/// Operand i of the comparison below the movements and casts of a mask, moved as the mask is.
UOp operand_of(UOp mask, size_t i) {
  if (mask->op == Op::Eq) return mask->src[i];
  if (mask->op == Op::Cast) return operand_of(mask->src[0], i);
  return ir::with_movements_of(mask, operand_of(ir::below_movements(mask), i));
}

/// The only axis along which x varies, if x counts 0, 1, 2, .. along all of it.
std::optional<size_t> counted_axis(UOp x) {
  std::vector<UOp> views;
  size_t bytes = sizeof(int64_t);  // of the narrowest type
  for (; ir::is_movement(x->op) || x->op == Op::Cast; x = x->src[0]) {
    if (x->op == Op::Cast) {
      if (!is_integer(x->dtype)) return {};
      bytes = std::min(bytes, size_of(x->dtype));
    } else if (x->op == Op::Reshape || x->op == Op::Permute || x->op == Op::Expand) {
      views.push_back(x);
    } else {
      return {};
    }
  }
  if (x->op != Op::Arange || x->shape.symbolic() || (x->shape[0].value() - 1) >> (8 * bytes - 1) != 0) return {};
  Strides strides = row_major(x->shape);
  for (size_t i = views.size(); i-- > 0;) strides = strides_after(views[i], strides);
  std::optional<size_t> found;
  for (size_t a = 0; a < strides.size(); ++a) {
    if (strides[a] == 0) continue;
    if (strides[a] != 1 || found) return {};
    found = a;
  }
  const Shape& seen = (views.empty() ? x : views[0])->shape;
  if (found && !(seen[*found] == x->shape[0])) return {};
  return found;
}

std::optional<Mask> mask_of(UOp factor) {
  UOp below = factor;
  for (; ir::is_movement(below->op) || below->op == Op::Cast; below = below->src[0])
    if (below->op == Op::Cast && below->dtype == DType::Bool) return {};
  if (below->op != Op::Eq || !is_integer(below->src[0]->dtype)) return {};
  for (const size_t i : {0, 1})
    if (const auto axis = counted_axis(operand_of(factor, i))) return Mask{operand_of(factor, 1 - i), *axis};
  return {};
}

/// Writes one sum.
class LabelSum {
 public:
  LabelSum(UOp product, const ir::Ints& summed, const Mask& mask) : shape_(product->shape), mask_(mask) {
    for (int64_t a : summed) order_.push_back(a), rows_ *= shape_[a].value();
    for (size_t a = 0; a < shape_.rank(); ++a) {
      const auto axis = static_cast<int64_t>(a);
      if (a == mask.axis || ir::contains(summed, axis)) continue;
      order_.push_back(axis);
      others_.push_back(shape_[a]);
    }
    at_ = 0;
    for (size_t a = 0; a < mask.axis; ++a) at_ += !ir::contains(summed, static_cast<int64_t>(a));
  }

  /// Whether the label varies along rows alone, the values not along the classes, and rows are enough.
  bool fits(UOp values) const {
    const int64_t classes = shape_[mask_.axis].value();
    if (classes < kFewestClasses || classes > kMaxClasses || rows_ < kFewestRows || rows_ < kRowsPerClass * classes)
      return false;
    const Strides label = strides_of_view(mask_.label);
    const size_t summed = order_.size() - others_.rank();
    for (size_t i = summed; i < order_.size(); ++i)
      if (label[static_cast<size_t>(order_[i])] != 0) return false;
    return label[mask_.axis] == 0 && strides_of_view(values)[mask_.axis] == 0;
  }

  UOp write(UOp values) const {
    const int64_t classes = shape_[mask_.axis].value();
    Shape each({rows_}), tables({classes + 1});
    for (const Dim& d : others_) each.push_back(d), tables.push_back(d);
    const UOp value = ir::cast(by_rows(values, each), DType::F64);
    const UOp sums = ir::scatter_add(ir::full(*values->graph, tables, DType::F64, 0.0, values->device),
                                     place(classes, each), value, 0);
    const UOp finite = ir::cast(ir::eq(sums - sums, ir::like(sums, 0.0)), DType::I32);
    const auto of_classes = [&](UOp x) { return ir::shrink_axis(x, 0, 0, classes); };
    const UOp own = of_classes(finite), made = ir::cast(of_classes(sums), values->dtype);
    const UOp others = ir::expand(ir::sum(finite, {0}), own->shape, {0}) - own;
    const UOp right = ir::where(ir::eq(others, ir::like(others, static_cast<double>(classes))), made,
                                ir::like(made, std::numeric_limits<double>::quiet_NaN()));
    ir::Ints back;  // the classes from the front to their place
    for (int64_t a = 1; a <= at_; ++a) back.push_back(a);
    back.push_back(0);
    for (auto a = at_ + 1; a < static_cast<int64_t>(right->rank()); ++a) back.push_back(a);
    return ir::permute(right, back);
  }

 private:
  /// x, which does not vary along the classes, as [rows, other axes of the results].
  UOp by_rows(UOp x, const Shape& shape) const {
    ir::Ints order = order_;
    order.push_back(static_cast<int64_t>(mask_.axis));
    return ir::reshape(ir::permute(ir::shrink_axis(x, mask_.axis, 0, 1), order), shape);
  }

  /// The table's row of each element's label: its class, or the last for labels that are none.
  UOp place(int64_t classes, const Shape& each) const {
    UOp label = mask_.label;
    for (size_t i = order_.size() - others_.rank(); i < order_.size(); ++i)
      label = ir::shrink_axis(label, static_cast<size_t>(order_[i]), 0, 1);
    Shape column({rows_});
    for (size_t i = 0; i < others_.rank(); ++i) column.push_back(1);
    label = ir::cast(by_rows(label, column), DType::I64);
    const UOp none = ir::like(label, static_cast<double>(classes));
    return ir::broadcast_to(ir::minimum(ir::where(ir::lt(label, ir::like(label, 0.0)), none, label), none), each);
  }

  const Shape shape_;  ///< of the product
  const Mask mask_;
  ir::Ints order_;  ///< its axes: those summed, then `others_`
  Shape others_;
  int64_t rows_ = 1;
  int64_t at_;  ///< of the classes among the axes of the results
};

UOp sum_by_label(UOp product, const ir::Ints& summed) {
  if (product->op != Op::Mul || product->dtype != DType::F32 || product->shape.symbolic()) return {};
  for (const size_t i : {0, 1}) {
    const std::optional<Mask> mask = mask_of(product->src[i]);
    if (!mask || ir::contains(summed, static_cast<int64_t>(mask->axis))) continue;
    const LabelSum sum(product, summed, *mask);
    if (sum.fits(product->src[1 - i])) return sum.write(product->src[1 - i]);
  }
  return {};
}

}  // namespace

void sum_by_labels(PlanGraph& plan, const runtime::Target& target) {
  if (target.cuda()) return;
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    return is_reduce(n, ir::Combine::Add) ? sum_by_label(src[0], n->reduction().axes) : UOp();
  });
}

}  // namespace sinter::schedule

// A scatter along an axis behind a new one, that of the blocks; a reduction of that; the base.
#include "schedule/simplify/scatter_blocks.h"

#include <algorithm>

#include "ir/combine.h"
#include "ir/one_axis.h"
#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {
namespace {

using ir::ScatterMode;

ir::Combine combine_of(ScatterMode mode) {
  switch (mode) {
    case ScatterMode::Mul: return ir::Combine::Mul;
    case ScatterMode::Max: return ir::Combine::Max;
    case ScatterMode::Min: return ir::Combine::Min;
    default: return ir::Combine::Add;
  }
}

/// Writes one scatter.
class ScatterBlocks {
 public:
  ScatterBlocks(UOp base, UOp index, UOp value, ir::ScatterAttr attr, int64_t blocks)
      : g_(*base->graph),
        base_(base),
        index_(index),
        value_(value),
        attr_(attr),
        at_(static_cast<size_t>(attr.axis)),
        blocks_(blocks),
        block_(index->shape[at_].value() / blocks) {}

  UOp write() const {
    const UOp made =
        attr_.mode == ScatterMode::Set ? last_updates() : with_base(joined(value_, attr_.mode, combine_of(attr_.mode)));
    const int64_t done = blocks_ * block_, all = index_->shape[at_].value();
    if (done == all) return made;
    return ir::scatter(made, ir::shrink_axis(index_, at_, done, all), ir::shrink_axis(value_, at_, done, all),
                       attr_.axis, attr_.mode);
  }

 private:
  UOp with_base(UOp made) const {
    const UOp out = ir::alu(ir::op_of(attr_.mode), {base_, made});
    if (attr_.mode != ScatterMode::Add || !is_float(base_->dtype)) return out;
    return ir::where(ir::eq(made, ir::like(made, 0.0)), base_, out);
  }

  UOp last_updates() const {
    const UOp place = ir::axis_iota(g_, index_->shape, attr_.axis, base_->device);
    const UOp last = joined(place, ScatterMode::Set, ir::Combine::Max), first = ir::like(last, 0.0),
              none = ir::lt(last, first);
    return ir::where(none, base_, ir::gather(value_, ir::where(none, first, last), attr_.axis));
  }

  /// Per element what its updates in blocks make of the identity of `combine`, which joins the blocks.
  UOp joined(UOp updates, ScatterMode mode, ir::Combine combine) const {
    const UOp identity =
        ir::constant(g_, ir::reduction_identity(combine, updates->dtype), updates->dtype, base_->device);
    const UOp tables = ir::broadcast_to(identity, with_blocks(base_->shape, base_->shape[at_].value()));
    const UOp made = ir::scatter(tables, in_blocks(index_), in_blocks(updates), attr_.axis + 1, mode);
    return ir::reduce(combine, made, {attr_.axis});
  }

  Shape with_blocks(const Shape& shape, int64_t size) const {
    std::vector<Dim> dims(shape.begin(), shape.end());
    dims[at_] = size;
    dims.insert(dims.begin() + attr_.axis, Dim(blocks_));
    return Shape(dims);
  }
  UOp in_blocks(UOp x) const {
    return ir::reshape(ir::shrink_axis(x, at_, 0, blocks_ * block_), with_blocks(x->shape, block_));
  }

  ir::Graph& g_;
  const UOp base_, index_, value_;
  const ir::ScatterAttr attr_;
  const size_t at_;
  const int64_t blocks_, block_;
};

}  // namespace

int64_t scatter_blocks(int64_t updates, int64_t elements, int64_t rows) {
  if (rows >= kScatterRows || rows == 0 || elements == 0) return 0;
  const int64_t reuse = rows == 1 ? kScatterReuse : kVectorReuse;
  const int64_t most = std::min(kScatterBlocks, updates / std::max(kScatterBlock, reuse * elements));
  if (most < 2) return 0;
  for (int64_t blocks = most; 2 * blocks > most; --blocks)
    if (blocks > 1 && updates % blocks == 0) return blocks;
  return most;
}

void cut_scatters(PlanGraph& plan) {
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Scatter || n->shape.symbolic() || n->src[1]->shape.symbolic()) return {};
    const auto at = static_cast<size_t>(n->scatter().axis);
    const int64_t elements = n->shape[at].value();
    const int64_t rows = elements ? n->shape.numel() / elements : 0;
    const int64_t blocks = scatter_blocks(n->src[1]->shape[at].value(), elements, rows);
    return blocks ? ScatterBlocks(src[0], src[1], src[2], n->scatter(), blocks).write() : UOp();
  });
}

}  // namespace sinter::schedule

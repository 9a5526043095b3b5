#include "batching/batch.h"

#include <fmt/core.h>

#include <unordered_map>

#include "ir/build.h"
#include "ir/user_rule.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::batching {
namespace {

using ir::Op;
using ir::UOp;

class Batcher {
 public:
  explicit Batcher(const Dim& count) : count_(count) {}

  void give(UOp element, UOp all) { all_[element.get()] = all; }
  bool depends(UOp n) const { return all_.contains(n.get()); }
  void add(UOp n) {
    bool any = false;
    for (UOp s : n->src) any |= depends(s);
    if (!any || depends(n)) return;
    const UOp all = rule(n);
    give(n, all);
    for (const std::shared_ptr<const ir::UserRule>& hook : ir::hooks_of(n))
      if (all->state.requires_grad) ir::add_hook(all, hook->batched(n, count_));
  }
  UOp of(UOp n) const {
    if (const auto it = all_.find(n.get()); it != all_.end()) return it->second;
    return ir::expand(n, with_count(n->shape), {0});
  }

 private:
  Shape with_count(const Shape& shape) const {
    Shape out{count_};
    for (const Dim& d : shape) out.push_back(d);
    return out;
  }
  static ir::Ints shifted(const ir::Ints& axes) {
    return ir::mapped<ir::Ints>(axes, [](int64_t a) { return a + 1; });
  }
  ir::Region with_count(const ir::Region& box) const {
    ir::Region out{{0, count_}};
    for (const ir::Extent& e : box) out.push_back(e);
    return out;
  }
  UOp with(UOp n, const ir::Attr& attr) const {
    auto src = ir::mapped<ir::Sources>(n->src, [&](UOp s) { return of(s); });
    return n->graph->make({n->op, n->dtype, with_count(n->shape), std::move(src), attr, n->device});
  }

  UOp rule(UOp n) {
    switch (ir::info(n->op).batching) {
      case ir::Batching::Map:
        return n->op == Op::Leaf || n->op == Op::Detach ? ir::detach(of(n->src[0])) : with(n, n->attr);
      case ir::Batching::Move: return move(n);
      case ir::Batching::Fold: {
        ir::ReduceAttr attr = n->reduction();
        attr.axes = shifted(attr.axes);
        return with(n, std::move(attr));
      }
      case ir::Batching::Pick: return pick(n);
      default: break;
    }
    if (n->op == Op::After) return version(n);
    if (n->op == Op::Custom) return custom(n);
    throw InternalError(fmt::format("no rule for {} over a batch", ir::info(n->op).name));
  }
  UOp pick(UOp n) const {
    if (n->op == Op::Sort || n->op == Op::Lapack) {  // along the last axes, of what is stored
      auto src = ir::mapped<ir::Sources>(n->src, [&](UOp s) { return ir::contiguous(of(s)); });
      return n->graph->make({n->op, n->dtype, with_count(n->shape), std::move(src), n->attr, n->device});
    }
    if (n->op != Op::Scatter) return with(n, n->integer() + 1);
    ir::ScatterAttr attr = n->scatter();
    ++attr.axis;
    return with(n, attr);
  }
  UOp move(UOp n) const {
    switch (n->op) {
      case Op::Permute: {
        ir::Ints order = shifted(n->ints());
        order.insert(order.begin(), 0);
        return with(n, std::move(order));
      }
      case Op::Expand:
      case Op::Flip: return with(n, shifted(n->ints()));
      case Op::Shrink:
      case Op::Pad: return with(n, with_count(n->region()));
      case Op::Window: {
        ir::WindowAttr attr = n->get<ir::WindowAttr>();
        ++attr.axis;
        return with(n, attr);
      }
      default: return with(n, n->attr);
    }
  }
  /// The value of a version: all of it was written, or what lies in a box.
  UOp version(UOp n) const {
    if (n->src.size() == 1) return of(n->src[0]);
    const UOp old = of(n->src[0]), part = of(n->src[1]);
    const ir::Region box = with_count(n->region());
    return ir::where(ir::pad(ir::true_like(part), box, old->shape), ir::pad(part, box, old->shape), old);
  }

  /// Values of one function stay values of one.
  UOp custom(UOp n) {
    const std::shared_ptr<const ir::RuleGroup> group = ir::rule_group(n);
    const UOp all = with(n, n->attr);
    if (!group || !all->state.requires_grad) return of(n->src[n->integer()]);
    std::shared_ptr<const ir::RuleGroup>& made = groups_[group.get()];
    if (!made) made = std::make_shared<ir::RuleGroup>(ir::RuleGroup{group->rule->batched(n, count_), group->values});
    ir::set_rule_group(all, made);
    return all;
  }

  const Dim count_;
  std::unordered_map<ir::Node*, UOp> all_;
  std::unordered_map<const ir::RuleGroup*, std::shared_ptr<const ir::RuleGroup>> groups_;
};

}  // namespace

std::vector<UOp> batched(std::span<const UOp> values, std::span<const BatchedInput> batches, const Dim& count) {
  Batcher batcher(count);
  for (const BatchedInput& b : batches) batcher.give(b.element, b.all);
  // The walk is over before the first rule makes a node.
  for (UOp n : ir::topological(values)) batcher.add(n);
  return ir::mapped(values, [&](UOp v) { return batcher.of(v); });
}

}  // namespace sinter::batching

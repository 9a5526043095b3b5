// One walk: nodes to stages, then what the prices need to know of each.
#include "schedule/fusion/fusion_node.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/axis_lists.h"
#include "ir/build.h"
#include "ir/combine.h"
#include "ir/walk.h"
#include "schedule/graph/fusion_cost.h"
#include "schedule/simplify/choose_reductions.h"
#include "schedule/simplify/strides.h"

namespace sinter::schedule {
namespace {

using ir::Op;
using ir::UOp;

bool placeless(Op op) { return op == Op::Const || op == Op::Arange || op == Op::Var || op == Op::Arg; }

StageKind kind_of(UOp n) {
  switch (n->op) {
    case Op::Param: return StageKind::Buffer;
    case Op::Reduce: return StageKind::Reduce;
    case Op::Gather: return StageKind::Gather;
    case Op::ScatterAdd: return StageKind::ScatterAdd;
    case Op::Scan: return StageKind::Scan;
    case Op::Contiguous:
    case Op::Copy: return StageKind::Contiguous;
    case Op::After: return StageKind::Box;
    default: return StageKind::Elementwise;
  }
}

UOp base_of(UOp n) {
  while (ir::is_movement(n->op)) n = n->src[0];
  return n;
}

/// Movement that keeps every element: an epilogue stays one behind it.
bool keeps_elements(const Source& s) {
  UOp n = s.head;
  while (n->op == Op::Reshape || n->op == Op::Permute) n = n->src[0];
  return !ir::is_movement(n->op);
}

/// Axes of a reduction's result along which windows of what it reads slide.
std::vector<int> sliding_axes(UOp reduce) {
  std::vector<int> out;
  for (UOp head : reduce->src) {
    std::vector<UOp> moved;
    for (UOp n = head; ir::is_movement(n->op); n = n->src[0]) moved.push_back(n);
    if (std::none_of(moved.begin(), moved.end(), [](UOp n) { return n->op == Op::Window; })) continue;
    Strides strides = row_major(moved.back()->src[0]->shape);
    for (size_t i = moved.size(); i-- > 0;) strides = strides_after(moved[i], strides);
    strides = ir::without(strides, reduce->reduction().axes);
    for (size_t axis = 0; axis < strides.size(); ++axis)
      if (strides[axis] != 0) out.push_back(static_cast<int>(axis));
  }
  return out;
}

class Builder {
 public:
  Builder(const PlanGraph& plan, const Prices& prices) : plan_(plan), prices_(prices) {}

  StageGraph build() {
    const std::vector<UOp> order = ir::topological(values_of(plan_));
    stage_of_.assign(order.size(), -1);
    for (UOp n : order)
      if (!ir::is_movement(n->op) && !placeless(n->op)) stage_of_[n->position] = add(n);
    for (size_t i = 0; i < plan_.outputs.size(); ++i) add_output(static_cast<int>(i));
    price();
    return std::move(out_);
  }

 private:
  Source source(UOp head) const {
    UOp base = base_of(head);
    return {head, placeless(base->op) ? -1 : stage_of_[base->position]};
  }

  int add(UOp n) {
    Stage s;
    s.node = n;
    s.kind = kind_of(n);
    if (s.kind == StageKind::Box) {
      std::vector<UOp> src{n->src[0]};
      src.insert(src.end(), n->src.begin() + 2, n->src.end());
      s.target = plan_.graph->make({Op::Shrink, n->dtype, n->src[1]->shape, std::move(src), n->region()});
      s.sources.push_back(source(n->src[1]));
    } else {
      for (UOp u : n->src) s.sources.push_back(source(u));
    }
    return push(std::move(s));
  }

  int push(Stage s) {
    s.number = s.node->position;
    out_.stages.push_back(std::move(s));
    return static_cast<int>(out_.stages.size()) - 1;
  }

  void add_output(int number) {
    const Output& o = plan_.outputs[static_cast<size_t>(number)];
    UOp n = o.value;
    // New memory has the order of its elements only: a reshaped value is stored as it is computed. A box is in its home
    // alone.
    while (o.home < 0 && n->op == Op::Reshape) n = n->src[0];
    int at = ir::is_movement(n->op) || placeless(n->op) ? -1 : stage_of_[n->position];
    if (at < 0 || n->op == Op::Param || (n->op == Op::After && o.home < 0)) {
      Stage s;
      s.node = o.value;
      s.kind = StageKind::Store;
      s.sources.push_back(source(o.value));
      at = push(std::move(s));
    }
    out_.stages[static_cast<size_t>(at)].outputs.push_back(number);
    out_.homes.push_back(o.home);
    out_.output_stages.push_back(at);
  }

  void price() {
    for (size_t i = 0; i < out_.stages.size(); ++i) {
      Stage& s = out_.stages[i];
      UOp n = s.kind == StageKind::Box ? s.target : s.node;
      s.numel = n->shape.bound();
      s.bytes = bytes_of(n);
      s.domain = s.kind == StageKind::Reduce       ? s.node->src[0]->shape.bound()
                 : s.kind == StageKind::ScatterAdd ? s.node->src[1]->shape.bound()
                                                   : s.numel;
      s.contraction = s.kind == StageKind::Reduce && is_contraction(s.node->reduction().combine, s.node->src);
      if (s.contraction) s.sliding = sliding_axes(s.node);
      s.own = cost(s);
      int64_t sources = 0;
      const bool opens = s.kind == StageKind::Buffer || s.kind == StageKind::Gather || s.kind == StageKind::ScatterAdd;
      if (opens) s.frontier = s.bytes;
      for (const Source& src : s.sources) {
        if (src.stage < 0) continue;
        const Stage& from = out_.stages[static_cast<size_t>(src.stage)];
        sources += from.read_bytes;
        if (!opens) s.frontier = std::max(s.frontier, from.frontier);
        if (s.kind != StageKind::Elementwise || from.anchor < 0 || !keeps_elements(src)) continue;
        if (s.anchor < 0 || own(from.anchor) > own(s.anchor)) s.anchor = from.anchor;
      }
      if (s.contraction && s.own > prices_.launch) s.anchor = static_cast<int>(i);
      s.read_bytes = s.kind == StageKind::Elementwise ? std::min(s.bytes, sources) : s.bytes;
    }
  }
  double own(int stage) const { return out_.stages[static_cast<size_t>(stage)].own; }

  /// Simple operations for one element.
  static double step_of(UOp reduce) {
    double weight = 0;
    for (Op op : ir::ops_of_step(reduce)) weight += weight_of(op);
    return weight;
  }
  double cost(const Stage& s) const {
    const auto points = static_cast<double>(s.domain);
    switch (s.kind) {
      case StageKind::Buffer: return 0;
      case StageKind::Elementwise: return weight_of(s.node->op) * points / prices_.elementwise;
      case StageKind::Reduce:
        return s.contraction ? 2 * points / prices_.contraction : step_of(s.node) * points / prices_.elementwise;
      case StageKind::ScatterAdd: return (2 * points + static_cast<double>(s.numel)) / prices_.elementwise;
      case StageKind::Scan: return step_of(s.node) * points / prices_.elementwise;
      case StageKind::Gather:
      case StageKind::Contiguous:
      case StageKind::Store:
      case StageKind::Box: return points / prices_.elementwise;
    }
    return 0;
  }

  const PlanGraph& plan_;
  const Prices& prices_;
  StageGraph out_;
  std::vector<int> stage_of_;
};

}  // namespace

StageGraph build_stages(const PlanGraph& plan, const Prices& prices) { return Builder(plan, prices).build(); }

bool one_reduction(const Stage& a, const Stage& b) {
  if (a.kind != StageKind::Reduce || b.kind != StageKind::Reduce || a.node->src != b.node->src) return false;
  ir::ReduceAttr x = a.node->reduction();
  x.result = b.node->reduction().result;
  return x == b.node->reduction();
}

std::string to_string(const Stage& s) {
  if (s.kind == StageKind::Buffer) return fmt::format("slot{}", s.node->integer());
  const char* form = s.kind == StageKind::Store ? "store of " : s.kind == StageKind::Box ? "box of " : "";
  return fmt::format("{}{}#{} {}{}", form, ir::info(s.node->op).name, s.number, name_of(s.node->dtype),
                     sinter::to_string(s.node->shape));
}

}  // namespace sinter::schedule

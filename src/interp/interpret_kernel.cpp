// The interpreter of kernels. Every store is a loop nest; a node is evaluated in the innermost loop whose range it
// depends on. A REDUCE is a nest of its own inside that of its store.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "interp/interpreter.h"
#include "interp/op_classes.h"
#include "ir/combine.h"
#include "ir/contains.h"
#include "ir/scalar_eval.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace {

using ir::Op;
using ir::Scalar;
using ir::UOp;

[[noreturn]] void refuse_node(UOp n, std::string_view why) {
  throw InternalError(
      fmt::format("interpreting a kernel: {} {} #{}: {}", ir::info(n->op).name, name_of(n->dtype), n->id, why));
}

int id_of(UOp range) { return range->get<ir::RangeAttr>().id; }
/// Number of value sources of a REDUCE. Its ranges follow them.
size_t values_of(UOp reduce) { return static_cast<size_t>(ir::value_count(reduce->reduction().combine)); }

int64_t variable(UOp n, const KernelInputs& inputs) {
  const std::string& name = n->get<sinter::Var>().name();
  auto v = inputs.vars.find(name);
  if (v == inputs.vars.end()) refuse_node(n, "no value for variable " + name);
  return v->second;
}
/// The bound of an outer range.
int64_t bound_of(UOp range, const KernelInputs& inputs) {
  UOp b = range->src[0];
  if (b->op == Op::Const) return b->scalar().as_int();
  if (b->op == Op::Var) return variable(b, inputs);
  refuse_node(range, "its bound is neither Const nor Var");
}

struct EvaluationNest;
/// A node to evaluate, as its index in the store's order. For a REDUCE, also its loops.
struct Evaluation {
  size_t node;
  std::unique_ptr<EvaluationNest> body;
  bool shadows = false;  ///< its ranges are open around it as well: restore their state afterwards
};
/// Loops as range numbers, outermost first. The first `driven_outside` are driven from outside.
struct EvaluationNest {
  std::vector<size_t> loops;
  size_t driven_outside = 0;
  std::vector<std::vector<Evaluation>> at;  ///< at[d]: nodes to evaluate per iteration of loop d - 1; at[0]: once
};

/// One STORE of the SINK with everything that it depends on. It has its own values, because another store may run
/// between two evaluations of the same LOAD.
class StoreInterpreter {
 public:
  StoreInterpreter(UOp store, std::span<const UOp> outer, const KernelInputs& inputs)
      : inputs_(inputs), order_(ir::topological(store)), value_(order_.size()) {
    for (UOp n : order_) {
      sources_.emplace_back();
      for (UOp s : n->src) sources_.back().push_back(s->position);
    }
    ranges_.assign(outer.begin(), outer.end());
    for (size_t r = 0; r < ranges_.size(); ++r) number_[ranges_[r]] = r;
    for (UOp n : order_)
      if (n->op == Op::Range && number_.emplace(n, ranges_.size()).second) ranges_.push_back(n);
    index_.assign(ranges_.size(), 0);
    for (UOp n : order_) range_.push_back(n->op == Op::Range ? number_.at(n) : 0);
    find_bounds();
    find_dependences();

    const size_t self = order_.size() - 1;
    std::vector<size_t> loops;
    for (size_t r = 0; r < ranges_.size(); ++r) {
      if (r < outer.size() || depends_[self][r]) loops.push_back(r);
      if (r < outer.size() && !depends_[self][r]) absent_.push_back(r);
    }
    std::sort(loops.begin() + static_cast<std::ptrdiff_t>(outer.size()), loops.end(),
              [&](size_t a, size_t b) { return id_of(ranges_[a]) < id_of(ranges_[b]); });
    std::vector<size_t> none;
    nest_ = build(std::move(loops), outer.size(), sources_[self], none, false);
  }

  /// Runs the store for one iteration of the outer ranges. `outermost_changed` is the outermost range whose index
  /// changed, 0 in the first iteration.
  void run(const std::vector<int64_t>& outer_index, size_t outermost_changed, bool first) {
    std::ranges::copy(outer_index, index_.begin());
    for (size_t r : absent_)
      if (index_[r] != 0) return;  // a store that lacks an outer range runs only at its index 0
    loop(nest_, first || !absent_.empty() ? 0 : outermost_changed + 1, [this] { write(); });
  }

 private:
  /// The nodes of each range's bound, sources first.
  void find_bounds() {
    bounds_.resize(ranges_.size());
    for (size_t i = 0; i < order_.size(); ++i) {
      if (order_[i]->op != Op::Range) continue;
      std::vector<size_t>& nodes = bounds_[range_[i]];
      std::vector<size_t> stack{sources_[i][0]};
      while (!stack.empty()) {
        const size_t n = stack.back();
        stack.pop_back();
        if (order_[n]->op == Op::Range || ir::contains(nodes, n)) continue;
        nodes.push_back(n);
        stack.insert(stack.end(), sources_[n].begin(), sources_[n].end());
      }
      std::ranges::sort(nodes);
    }
  }
  int64_t bound_now(size_t range) {
    for (size_t n : bounds_[range]) evaluate({n, nullptr});
    return value(bounds_[range].back()).as_int();
  }

  /// The ranges that a node's value depends on, including those in the bounds of its loops. A REDUCE closes its own.
  void find_dependences() {
    depends_.assign(order_.size(), std::vector<bool>(ranges_.size(), false));
    for (size_t i = 0; i < order_.size(); ++i) {
      const size_t values = order_[i]->op == Op::Reduce ? values_of(order_[i]) : sources_[i].size();
      for (size_t k = 0; k < sources_[i].size(); ++k)
        for (size_t r = 0; r < ranges_.size(); ++r)
          if (depends_[sources_[i][k]][r]) depends_[i][r] = true;
      for (size_t k = values; k < sources_[i].size(); ++k) depends_[i][number_.at(order_[i]->src[k])] = false;
      if (order_[i]->op == Op::Range) depends_[i][range_[i]] = true;
    }
  }
  /// One more than the position of the innermost loop that the node depends on; 0 if none.
  size_t depth_of(const std::vector<size_t>& loops, size_t node) const {
    size_t d = loops.size();
    while (d > 0 && !depends_[node][loops[d - 1]]) --d;
    return d;
  }

  /// The nest that evaluates `roots`. For a REDUCE (`inner`), nodes that do not depend on its own loops are hoisted:
  /// they are appended to `outside` for the surrounding nest. Recurses to the nesting depth of REDUCEs.
  EvaluationNest build(std::vector<size_t> loops, size_t driven_outside, std::span<const uint32_t> roots,
                       std::vector<size_t>& outside, bool inner) {
    EvaluationNest nest{std::move(loops), driven_outside, {}};
    nest.at.resize(nest.loops.size() + 1);
    std::vector<Evaluation> found;
    std::vector<bool> seen(order_.size(), false);
    std::vector<size_t> stack(roots.begin(), roots.end());
    while (!stack.empty()) {
      const size_t i = stack.back();
      stack.pop_back();
      if (seen[i] || order_[i]->op == Op::Range || order_[i]->op == Op::Param) continue;
      seen[i] = true;
      if (inner && depth_of(nest.loops, i) <= driven_outside) {
        outside.push_back(i);
        continue;
      }
      found.push_back({i, nullptr});
      if (order_[i]->op != Op::Reduce) {
        stack.insert(stack.end(), sources_[i].begin(), sources_[i].end());
        continue;
      }
      std::vector<size_t> deeper = nest.loops;
      const std::span<const uint32_t> src = sources_[i];
      const size_t values = values_of(order_[i]);
      for (size_t k = values; k < src.size(); ++k) {
        deeper.push_back(number_.at(order_[i]->src[k]));
        found.back().shadows |= ir::contains(nest.loops, deeper.back());
      }
      found.back().body =
          std::make_unique<EvaluationNest>(build(std::move(deeper), nest.loops.size(), src.first(values), stack, true));
    }
    std::ranges::sort(found, [](const Evaluation& a, const Evaluation& b) { return a.node < b.node; });
    for (Evaluation& e : found) {
      const size_t depth = depth_of(nest.loops, e.node);
      nest.at[depth].push_back(std::move(e));
    }
    return nest;
  }

  /// Runs the loops from `driven_outside` on and calls `leaf` in each iteration. `stale`: outermost depth to
  /// reevaluate.
  template <class Leaf>
  void loop(const EvaluationNest& nest, size_t stale, Leaf leaf) {
    const size_t depth = nest.loops.size();
    std::vector<int64_t> bound(depth);
    for (size_t d = nest.driven_outside; d < depth; ++d) {
      bound[d] = bound_now(nest.loops[d]);
      if (bound[d] <= 0) return;
      index_[nest.loops[d]] = 0;
    }
    for (;;) {
      for (size_t d = stale; d <= depth; ++d)
        for (const Evaluation& e : nest.at[d]) evaluate(e);
      leaf();
      size_t d = depth;
      for (; d > nest.driven_outside; --d) {
        if (++index_[nest.loops[d - 1]] < bound[d - 1]) break;
        index_[nest.loops[d - 1]] = 0;
      }
      if (d == nest.driven_outside) return;
      stale = d;
    }
  }

  Scalar value(size_t node) const {
    UOp n = order_[node];
    return n->op == Op::Range ? Scalar::of(DType::Index, index_[range_[node]]) : value_[node];
  }

  void evaluate(const Evaluation& e) {
    UOp n = order_[e.node];
    const std::vector<uint32_t>& src = sources_[e.node];
    Scalar& out = value_[e.node];
    switch (n->op) {
      case Op::Const: out = n->scalar(); return;
      case Op::Var: out = Scalar::of(n->dtype, variable(n, inputs_)); return;
      case Op::Arg:
        if (static_cast<size_t>(n->integer()) >= inputs_.args.size()) refuse_node(n, "no such argument");
        out = inputs_.args[n->integer()];
        return;
      case Op::Load: out = load(e.node); return;
      case Op::Reduce: out = reduce(e); return;
      case Op::Scan: out = scan(e.node); return;
      default: break;
    }
    if (!ir::is_alu(n->op)) refuse_node(n, "no op of kernels");
    Scalar args[3];
    for (size_t k = 0; k < src.size(); ++k) args[k] = value(src[k]);
    if (n->op == Op::Check && args[1].as_int() == 0 && inputs_.error) *inputs_.error |= 1u << n->integer();
    if (n->op == Op::Check)
      out = args[0];
    else
      out = ir::evaluate(n->op, n->dtype, order_[src.back()]->dtype, {args, src.size()});
  }

  CombineEvaluator& combiner(size_t node) {
    auto it = combiners_.find(node);
    if (it == combiners_.end())
      it = combiners_
               .emplace(node, CombineEvaluator(order_[node]->reduction(), ir::accumulator_types(order_[node]),
                                               order_[node]->src[0]->dtype, inputs_.lower_combine))
               .first;
    return it->second;
  }
  /// Called once per iteration of its ranges, which are the innermost that it depends on.
  Scalar scan(size_t node) {
    UOp n = order_[node];
    const std::vector<uint32_t>& src = sources_[node];
    std::vector<Scalar> element(values_of(n));
    for (size_t k = 0; k < element.size(); ++k) element[k] = value(src[k]);
    const bool first = std::all_of(src.begin() + static_cast<std::ptrdiff_t>(element.size()), src.end(),
                                   [&](uint32_t r) { return index_[range_[r]] == 0; });
    return combiner(node).add(first, element);
  }

  Scalar reduce(const Evaluation& e) {
    UOp n = order_[e.node];
    const std::vector<uint32_t>& src = sources_[e.node];
    std::vector<std::vector<Scalar>> elements(values_of(n));
    std::vector<Scalar> values;
    std::vector<int64_t> indices;
    if (e.shadows) {
      values = value_;
      indices = index_;
    }
    loop(*e.body, e.body->driven_outside + 1, [&] {
      for (size_t k = 0; k < elements.size(); ++k) elements[k].push_back(value(src[k]));
    });
    if (e.shadows) {
      std::ranges::copy(values, value_.begin());  // not assigned: the caller has a reference into it
      std::ranges::copy(indices, index_.begin());
    }
    return combiner(e.node).reduce(elements, row_of(e.node));
  }
  /// How many elements of a REDUCE lie along its last range of more than one.
  size_t row_of(size_t reduce) const {
    const std::vector<uint32_t>& src = sources_[reduce];
    for (size_t i = src.size(); i-- > values_of(order_[reduce]);)
      if (const int64_t n = value(sources_[src[i]][0]).as_int(); n > 1) return static_cast<size_t>(n);
    return 1;
  }

  /// The address of the element that a LOAD or STORE accesses.
  std::byte* element(size_t node) const {
    UOp n = order_[node], param = n->src[0];
    if (static_cast<size_t>(param->integer()) >= inputs_.params.size()) refuse_node(param, "no such buffer");
    const KernelBuffer& buffer = inputs_.params[param->integer()];
    const bool same_rank = buffer.shape.size() == param->rank();  // otherwise adjacent axes of the buffer are one dim
    if (buffer.dtype != param->dtype || (!same_rank && param->shape.symbolic()))
      refuse_node(param, "the buffer has another type or rank");
    int64_t at = 0;
    for (size_t d = 0; d < param->rank(); ++d) {
      const int64_t i = value(sources_[node][1 + d]).as_int(),
                    size = same_rank ? buffer.shape[d] : param->shape[d].value();
      if (i < 0 || i >= size) refuse_node(n, fmt::format("index {} of axis {} lies outside 0..{}", i, d, size));
      at = at * size + i;
    }
    const auto offset = static_cast<size_t>(at) * size_of(buffer.dtype);
    if (offset + size_of(buffer.dtype) > buffer.bytes.size())
      refuse_node(param, "the buffer is smaller than its shape");
    return buffer.bytes.data() + offset;
  }
  Scalar load(size_t node) const {
    const std::vector<uint32_t>& src = sources_[node];
    const size_t rank = order_[node]->src[0]->rank();
    if (src.size() > 1 + rank && value(src[1 + rank]).as_int() == 0) return value(src[2 + rank]);
    return load_scalar(order_[node]->dtype, element(node));
  }
  void write() {
    const size_t self = order_.size() - 1;
    const std::vector<uint32_t>& src = sources_[self];
    UOp n = order_[self];
    const size_t rank = n->src[0]->rank();
    if (src.size() > 2 + rank && value(src[2 + rank]).as_int() == 0) return;
    const DType dtype = n->src[0]->dtype;
    std::byte* to = element(self);
    Scalar v = value(src[1 + rank]);
    if (const auto mode = static_cast<ir::ScatterMode>(n->integer()); mode != ir::ScatterMode{})
      v = ir::updated(mode, dtype, load_scalar(dtype, to), v);
    store_scalar(dtype, to, v);
  }

  const KernelInputs& inputs_;
  std::vector<UOp> order_;
  std::vector<std::vector<uint32_t>> sources_;
  std::vector<Scalar> value_;
  std::vector<UOp> ranges_;  ///< outer ranges first
  std::unordered_map<UOp, size_t> number_;
  std::vector<size_t> range_;  ///< of a node that is a range: its number
  std::vector<std::vector<size_t>> bounds_;
  std::vector<int64_t> index_;  ///< current index of each range
  std::vector<std::vector<bool>> depends_;
  std::unordered_map<size_t, CombineEvaluator> combiners_;  ///< by node
  std::vector<size_t> absent_;                              ///< outer ranges that the store does not depend on
  EvaluationNest nest_;
};

}  // namespace

void interpret_kernel(UOp sink, const KernelInputs& inputs) {
  if (ir::sorts_runs(sink)) {
    const ir::Sources& params = sink->src[0]->src;
    const auto buffer = [&](UOp p) -> const KernelBuffer& { return inputs.params[p->integer()]; };
    sort_runs(ir::sort_runs_of(sink->src[0]), buffer(params[0]), buffer(params[1]));
    return;
  }
  if (ir::calls_lapack(sink)) return call_lapack(ir::lapack_call_of(sink->src[0]), inputs.params, inputs.error);
  std::vector<UOp> outer;
  for (UOp n : ir::topological(sink))
    if (n->op == Op::Range && n->get<ir::RangeAttr>().kind == ir::AxisKind::Outer) outer.push_back(n);
  std::ranges::sort(outer, [](UOp a, UOp b) { return id_of(a) < id_of(b); });
  std::vector<int64_t> bound = ir::mapped(outer, [&](UOp r) { return bound_of(r, inputs); });
  if (std::ranges::any_of(bound, [](int64_t b) { return b <= 0; })) return;

  std::vector<StoreInterpreter> stores;
  stores.reserve(sink->src.size());
  for (UOp s : sink->src) stores.emplace_back(s, outer, inputs);
  std::vector<int64_t> outer_index(outer.size(), 0);
  size_t outermost_changed = 0;
  for (bool first = true;; first = false) {
    for (StoreInterpreter& s : stores) s.run(outer_index, outermost_changed, first);
    size_t d = outer.size();
    for (; d > 0; --d) {
      if (++outer_index[d - 1] < bound[d - 1]) break;
      outer_index[d - 1] = 0;
    }
    if (d == 0) return;
    outermost_changed = d - 1;
  }
}

}  // namespace sinter::runtime

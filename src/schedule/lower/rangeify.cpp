// One expression per (node, index), sources first, with an explicit stack.
#include "schedule/lower/rangeify.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "ir/build.h"
#include "ir/combine.h"
#include "ir/contains.h"
#include "ir/walk.h"
#include "schedule/lower/dedup_kernels.h"
#include "schedule/lower/index_map.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

using ir::ElementIndex;
using ir::mix;

/// What a node shows of itself: neither where boxes begin nor the number of an argument, which kernels that do the same
/// to other parts of a tensor differ in.
uint64_t blind_form(UOp n) {
  const uint64_t h = mix(mix(static_cast<uint64_t>(n->op), static_cast<uint64_t>(n->dtype)), ir::hash_of(n->shape));
  return n->op == Op::Arg ? h : mix(h, ir::order_hash_of(n->attr));
}

/// A source of the hash `value`, through its movement nodes; a leaf without a buffer is at the end of these.
uint64_t blind_source(const FusionEdge& source, uint64_t value) {
  UOp n = source.head;
  for (; ir::is_movement(n->op); n = n->src[0]) value = mix(value, blind_form(n));
  return source.node < 0 ? mix(value, blind_form(n)) : value;
}

class KernelWriter {
 public:
  KernelWriter(const Partition& p, const Placement& placement, const std::vector<int>& member_of,
               const std::vector<uint64_t>& blind, int number)
      : p_(p),
        placement_(placement),
        member_of_(member_of),
        blind_(blind),
        number_(number),
        kernel_(p.kernels[number]),
        index_map_(p, kernel_),
        g_(index_map_.graph()) {}

  KernelInstance write() {
    for (const Member& m : kernel_.members) loops_[m.node] = &m.reduced;
    for (const auto& [sum, ranges] : split_reductions_of(kernel_)) split_axes_[sum] = ranges;
    auto in_epilogue = [&](const KernelStore& o) { return std::ranges::binary_search(kernel_.epilogue, o.node); };
    std::vector<UOp> stores;
    for (const auto& [sum, ranges] : split_axes_)
      store_parts(sum, stores);  // before the outputs, which may overwrite what they read
    for (const KernelStore& o : kernel_.outputs)
      if (!in_epilogue(o)) store(o, stores);
    out_.kernel.graph = index_map_.arena();
    out_.kernel.sink = ir::sink(g_, stores);
    if (!split_axes_.empty()) {
      index_map_.begin_epilogue();
      done_.clear();
      std::vector<UOp> last;
      for (const KernelStore& o : kernel_.outputs)
        if (in_epilogue(o)) store(o, last);
      out_.kernel.epilogue_sink = ir::sink(g_, last);
    }
    out_.kernel.outer = index_map_.outer();
    out_.kernel.params = static_cast<int>(index_map_.buffers().size());
    out_.buffers = index_map_.buffers();
    out_.args = index_map_.args();
    out_.kernel.args = index_map_.arg_types();
    for (UOp n : nodes_of(out_.kernel))
      if (n->op == Op::Var && !ir::contains(out_.kernel.vars, n->get<Var>())) out_.kernel.vars.push_back(n->get<Var>());
    out_.kernel.name = name();
    return std::move(out_);
  }

 private:
  struct ValueRequest {
    int node = -1;       // a node, or
    UOp leaf = {};       // a leaf without a buffer
    int index_id = 0;    // the index at which it is needed
    UOp predicate = {};  // the value is zero where this is false
    int part = -1;       // of a sum across outer ranges: the partial sum of this accumulator
  };
  struct EvalFrame {
    ValueRequest of;
    std::vector<ValueRequest> requests = {};
    int step = 0;
    std::vector<UOp> ranges = {};  // of a reduction
  };

  const FusionNode& node(int s) const { return p_.graph.nodes[s]; }
  bool member(int s) const { return member_of_[s] == number_; }
  static uint64_t key(const ValueRequest& r) {
    return static_cast<uint64_t>(r.node) << 34 | static_cast<uint64_t>(r.part + 1) << 32 |
           static_cast<uint32_t>(r.index_id);
  }

  /// The request below the movement nodes of an edge, for the user's index.
  ValueRequest request(const FusionEdge& source, int at) {
    const IndexMap::ViewSource to = index_map_.down(source.head, at);
    return {source.node, to.node, to.index_id, to.predicate};
  }

  UOp load(int s, const ElementIndex& at) {
    UOp n = node(s).uop;
    const int buffer =
        node(s).kind == FusionNodeKind::Buffer ? static_cast<int>(n->integer()) : placement_.node_buffers[s];
    UOp from = index_map_.param(buffer, n->dtype, n->shape);
    return ir::load(from, at.index, at.valid, at.valid ? index_map_.zero(n->dtype) : UOp());
  }

  /// The value of a request, or null if it must be evaluated first.
  UOp value(const ValueRequest& r) {
    const ElementIndex& at = index_map_[r.index_id];
    if (at.valid && at.valid->op == Op::Const)  // constantly false; constantly true would be null
      return index_map_.zero(r.node >= 0 ? node(r.node).uop->dtype : r.leaf->dtype);
    UOp v;
    if (r.node >= 0 && !member(r.node)) {
      v = load(r.node, at);
      if (r.predicate == at.valid) return v;
    } else if (r.node < 0) {
      v = index_map_.leaf(r.leaf, at);
    } else {
      auto it = done_.find(key(r));
      if (it == done_.end()) return {};
      v = it->second;
    }
    if (!r.predicate) return v;
    return ir::where(r.predicate, v, index_map_.zero(v->dtype));
  }

  UOp evaluate(const ValueRequest& root) {
    if (UOp v = value(root)) return v;
    std::vector<EvalFrame> stack;
    stack.push_back({root});
    while (!stack.empty()) {
      EvalFrame& f = stack.back();
      if (done_.contains(key(f.of))) {
        stack.pop_back();
        continue;
      }
      if (f.requests.empty()) open(f);
      std::vector<UOp> values;
      const ValueRequest* missing = nullptr;
      const std::vector<size_t> walk = walk_order(f);
      for (size_t i : walk) {
        if (value(f.requests[i])) continue;
        missing = &f.requests[i];
        break;
      }
      if (missing) {
        const ValueRequest next = *missing;
        stack.push_back({next});
        continue;
      }
      for (const ValueRequest& r : f.requests) values.push_back(value(r));
      const UOp n = node(f.of.node).uop;
      if (ir::commutes(n->op, n->dtype) && walk.front() != 0) std::swap(values[0], values[1]);
      if (UOp v = close(f, values)) {
        done_.emplace(key(f.of), v);
        stack.pop_back();
      }
    }
    return value(root);
  }

  /// The order in which operands are visited: blind for those of a commutative op, so that kernels that differ only in
  /// buffers number them alike.
  std::vector<size_t> walk_order(const EvalFrame& f) const {
    std::vector<size_t> order(f.requests.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const FusionNode& s = node(f.of.node);
    if (order.size() != 2 || !ir::has(s.uop->op, ir::kCommutative)) return order;
    const auto look = [&](const FusionEdge& e) { return blind_source(e, e.node < 0 ? 0 : blind_[e.node]); };
    if (look(s.sources[1]) < look(s.sources[0])) std::swap(order[0], order[1]);
    return order;
  }

  /// Requests the inputs of a node.
  void open(EvalFrame& f) {
    const FusionNode& s = node(f.of.node);
    if (s.kind == FusionNodeKind::Reduce) {
      if (split_axes_.contains(f.of.node) && f.of.part < 0) return;  // its partial sums are in memory
      ElementIndex at = index_map_[f.of.index_id];
      const std::vector<int>& loops = *loops_.at(f.of.node);
      IndexMap::RangeBinding bound = index_map_.bind(loops, at);
      size_t next = 0;
      at.index = ir::with_axes(std::move(at.index), s.uop->reduction().axes, [&](int64_t d) {
        return s.uop->src[0]->shape[d] == 1 ? index_map_.zero(DType::Index)
                                            : index_map_.expression(p_.space.expand({loops[next++]}), bound.index);
      });
      f.ranges = std::move(bound.ranges);
      const int inside = index_map_.intern(std::move(at));
      for (const FusionEdge& src : s.sources) f.requests.push_back(request(src, inside));
    } else if (s.kind == FusionNodeKind::Gather) {
      f.requests.push_back(request(s.sources[1], f.of.index_id));
    } else {
      for (const FusionEdge& src : s.sources) f.requests.push_back(request(src, f.of.index_id));
      if (s.uop->op == Op::Barrier) f.requests.resize(1);  // the order of kernels follows from the partition
    }
  }

  /// The node's value, or null if it made new requests.
  UOp close(EvalFrame& f, std::vector<UOp>& values) {
    const FusionNode& s = node(f.of.node);
    UOp n = s.uop;
    switch (s.kind) {
      case FusionNodeKind::Reduce: {
        const ir::ReduceAttr& attr = n->reduction();
        if (attr.tree.mma && f.ranges.size() > attr.axes.size())
          throw InternalError("an axis along which tensor cores sum was split");
        if (index_map_.empty(*loops_.at(f.of.node)))
          return ir::constant(g_, ir::reduction_identity(attr.combine, n->dtype, attr.result), n->dtype);
        if (f.of.part >= 0)
          return ir::reduce_over(
              attr.combine, values, f.ranges,
              {.lanes = attr.tree.lanes, .block = joins_groups(f.of.node) ? attr.tree.block : 0, .mma = attr.tree.mma},
              f.of.part);
        if (split_axes_.contains(f.of.node)) return sum_of_parts(f.of.node, index_map_[f.of.index_id]);
        return ir::reduce_over(attr.combine, values, f.ranges, attr.tree, attr.result);
      }
      case FusionNodeKind::Scan: {
        const ir::ReduceAttr& attr = n->reduction();
        std::vector<UOp> ranges;
        for (int a : p_.space.expand(*loops_.at(f.of.node))) ranges.push_back(index_map_.expression({a}));
        if (ranges.empty()) ranges.push_back(index_map_.range(1));
        return ir::scan_over(attr.combine, values, ranges, attr.result);
      }
      case FusionNodeKind::Gather: {
        if (f.step++ == 0) {
          const auto axis = static_cast<size_t>(n->integer());
          ElementIndex at = index_map_[f.of.index_id];
          at.index[axis] = index_map_.checked_index(values[0], n->src[0]->shape[axis], n->shape, at.valid);
          const UOp predicate = at.valid;
          f.requests.push_back(request(s.sources[0], index_map_.intern(std::move(at))));
          if (!f.requests.back().predicate)
            f.requests.back().predicate = predicate;  // no load applies the predicate, so it is applied here
          return {};
        }
        return values[1];
      }
      case FusionNodeKind::Elementwise: {
        if (n->op == Op::Barrier) return values[0];
        if (n->op == Op::Cast) return ir::cast(values[0], n->dtype);
        return g_.make({n->op, n->dtype, {}, values, n->attr});
      }
      default: return values[0];
    }
  }

  // ---- sums across outer ranges
  /// The partial sums of an accumulator: one copy of the result per task.
  UOp parts_of(int sum, size_t accumulator) {
    std::vector<Dim> dims = ir::mapped(split_axes_.at(sum), [&](int a) { return tasks_along(p_.space, kernel_, a); });
    UOp n = node(sum).uop;
    dims.insert(dims.end(), n->shape.begin(), n->shape.end());
    return index_map_.param(buffers_of(sum)[accumulator], ir::accumulator_types(n)[accumulator], Shape(dims));
  }
  const std::vector<int>& buffers_of(int sum) const { return placement_.parts.at({number_, sum}); }
  std::vector<UOp> task_ranges_of(int sum) const {
    return ir::mapped(split_axes_.at(sum), [&](int a) { return index_map_.outer_range(a); });
  }

  /// Stores each task's partial sums: all accumulators, even if only some are used in the end.
  void store_parts(int sum, std::vector<UOp>& stores) {
    const std::vector<int>& buffers = buffers_of(sum);
    if (ir::contains(out_.writes, buffers[0])) return;
    const Member& m = *std::ranges::find_if(kernel_.members, [&](const Member& member) { return member.node == sum; });
    ElementIndex at = index_of(m.at[0]);
    std::vector<UOp> index = task_ranges_of(sum);
    index.insert(index.end(), at.index.begin(), at.index.end());
    const int index_id = index_map_.intern(std::move(at));
    for (size_t k = 0; k < buffers.size(); ++k) {
      const UOp part = evaluate({.node = sum, .index_id = index_id, .part = static_cast<int>(k)});
      stores.push_back(ir::store(parts_of(sum, k), index, part));
    }
    out_.writes.insert(out_.writes.end(), buffers.begin(), buffers.end());
  }

  UOp sum_of_parts(int sum, const ElementIndex& at) {
    std::vector<UOp>& ranges = late_ranges_[split_axes_.at(sum)];
    if (ranges.empty())
      for (int a : split_axes_.at(sum)) ranges.push_back(index_map_.range(tasks_along(p_.space, kernel_, a)));
    std::vector<UOp> index = ranges;
    index.insert(index.end(), at.index.begin(), at.index.end());
    const ir::ReduceAttr& attr = node(sum).uop->reduction();
    std::vector<UOp> parts;
    for (size_t k = 0; k < buffers_of(sum).size(); ++k) {
      UOp from = parts_of(sum, k);
      parts.push_back(ir::load(from, index, at.valid, at.valid ? index_map_.zero(from->dtype) : UOp()));
    }
    int64_t tasks = 1;
    for (int a : split_axes_.at(sum)) tasks *= tasks_along(p_.space, kernel_, a).bound();
    const ir::ReductionTree tree =
        joins_groups(sum) ? ir::ReductionTree{1, attr.tree.group, ir::ReductionTree::kFanIn} : attr.tree;
    return ir::reduce_over(ir::merge_combine(attr.combine), parts, ranges, ir::merge_tree(tree, tasks), attr.result);
  }
  /// Whether a task reduces a group of the sum's tree instead of a block.
  bool joins_groups(int sum) {
    const std::vector<int>& axes = *loops_.at(sum);
    int64_t inside = 1;
    for (size_t i = split_axes_.at(sum).size(); i < axes.size(); ++i) inside *= p_.space.bound(axes[i]);
    return reduces_tree_groups(kernel_.blocks, node(sum).uop->reduction().tree, inside);
  }

  // ---- stores
  ElementIndex index_of(IndexId id) {
    ElementIndex at;
    for (const DimIndex& d : p_.space[id]) at.index.push_back(index_map_.expression(IndexMap::axes_of(d)));
    return at;
  }

  void store(const KernelStore& out, std::vector<UOp>& stores) {
    const FusionNode& s = node(out.node);
    if (s.scatter) return scatter(out, stores);
    if (index_map_.empty(p_.space.axes_of(out.at))) return;
    ElementIndex at = index_of(out.at);
    ElementIndex target = at;
    if (s.target) target = ir::source_index(g_, index_map_.with_local_arguments(s.target), at);
    const UOp v = evaluate({.node = out.node, .index_id = index_map_.intern(std::move(at))});
    for (int b : destinations(out.node)) stores.push_back(ir::store(destination(s, b), target.index, v));
  }

  UOp destination(const FusionNode& s, int buffer) { return index_map_.param(buffer, s.uop->dtype, s.uop->shape); }

  /// The buffers to store to. The home comes last, so that the other stores do not read what it overwrites.
  std::vector<int> destinations(int number) {
    std::vector<int> buffers;
    for (bool home : {false, true})
      for (int o : node(number).outputs)
        if ((p_.graph.homes[o] >= 0) == home) buffers.push_back(placement_.output_buffers[o]);
    if (buffers.empty()) buffers.push_back(placement_.node_buffers[number]);
    out_.writes.insert(out_.writes.end(), buffers.begin(), buffers.end());
    return buffers;
  }

  /// Stores the base to every element, unless it is there already, then the updates in order.
  void scatter(const KernelStore& out, std::vector<UOp>& stores) {
    const FusionNode& s = node(out.node);
    UOp n = s.scatter;
    const auto axis = static_cast<size_t>(n->scatter().axis);
    ElementIndex fill = index_of(out.at), update = fill, to = fill;
    const bool lies_there = s.sources[0].node >= 0 && node(s.sources[0].node).kind == FusionNodeKind::Buffer &&
                            (s.target || s.sources[0].head->op == Op::Param);
    UOp base;
    const std::vector<int> buffers = destinations(out.node);
    for (int buffer : buffers) {
      if (lies_there && buffer == static_cast<int>(node(s.sources[0].node).uop->integer())) continue;
      if (!base) base = evaluate(request(s.sources[0], index_map_.intern(fill)));
      stores.push_back(ir::store(destination(s, buffer), fill.index, base));
    }
    const std::vector<int> iterations = p_.space.expand(*loops_.at(out.node));
    update.index[axis] = index_map_.expression(iterations);
    const int there = index_map_.intern(update);
    UOp predicate;
    UOp target =
        index_map_.checked_index(evaluate(request(s.sources[1], there)), n->shape[axis], n->src[1]->shape, predicate);
    UOp value = evaluate(request(s.sources[2], there));
    to.index[axis] = target;
    if (s.target) to = index_map_[index_map_.down(s.target, index_map_.intern(to)).index_id];
    for (int a : iterations)
      if (!index_map_.depends(target, a) && !index_map_.depends(value, a)) out_.invariant_scatter = n;
    for (int buffer : buffers)
      stores.push_back(ir::store(destination(s, buffer), to.index, value, n->scatter().mode, predicate));
  }

  /// For example "r_256_128_784": outer extents, then those of inner loops.
  std::string name() const {
    std::string sizes;
    auto add = [&](const Dim& d) { sizes += d.symbolic() ? "_n" : fmt::format("_{}", d.value()); };
    for (const Dim& d : out_.kernel.outer) add(d);
    const char* kind = "e";
    for (int a : kernel_.inner) add(p_.space.size(a));
    for (const Member& m : kernel_.members) {
      if (node(m.node).scatter) kind = "s";
      if (node(m.node).kind == FusionNodeKind::Reduce && *kind == 'e') kind = "r";
    }
    return fmt::format("{}{}", kind, sizes.empty() ? "_1" : sizes);
  }

  const Partition& p_;
  const Placement& placement_;
  const std::vector<int>& member_of_;
  const std::vector<uint64_t>& blind_;
  const int number_;
  const FusionGroup& kernel_;
  IndexMap index_map_;
  ir::Graph& g_;
  KernelInstance out_;
  std::unordered_map<int, const std::vector<int>*> loops_;  ///< per member: the axes of its own loops
  std::map<int, std::vector<int>> split_axes_;              ///< per sum across outer ranges: these ranges
  std::map<std::vector<int>, std::vector<UOp>> late_ranges_;
  std::unordered_map<uint64_t, UOp> done_;
};

}  // namespace

Rangeifier::Rangeifier(const Partition& partition, const Placement& placement)
    : partition_(partition),
      placement_(placement),
      member_of_(partition.graph.nodes.size(), -1),
      blind_(partition.graph.nodes.size()) {}

KernelInstance Rangeifier::kernel(int number) {
  std::vector<int> members;
  for (const Member& m : partition_.kernels[number].members) {
    member_of_[m.node] = number;
    members.push_back(m.node);
  }
  std::ranges::sort(members);  // node numbers are topological, sources first
  members.erase(std::unique(members.begin(), members.end()), members.end());
  for (int m : members) {
    const FusionNode& s = partition_.graph.nodes[m];
    UOp n = s.uop;
    std::vector<uint64_t> seen;
    for (const FusionEdge& src : s.sources) {
      uint64_t from = 0;
      if (src.node >= 0 && member_of_[src.node] == number) {
        from = blind_[src.node];
      } else if (src.node >= 0) {
        UOp read = partition_.graph.nodes[src.node].uop;
        from = mix(static_cast<uint64_t>(read->dtype), ir::hash_of(read->shape));
        blind_[src.node] = from;
      }
      seen.push_back(blind_source(src, from));
    }
    if (ir::commutes(n->op, n->dtype)) std::ranges::sort(seen);
    uint64_t h = blind_form(n);
    for (uint64_t source : seen) h = mix(h, source);
    blind_[m] = h;
  }
  return KernelWriter(partition_, placement_, member_of_, blind_, number).write();
}

}  // namespace sinter::schedule

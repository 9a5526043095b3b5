// One expression per (stage, place), sources first, on an explicit stack.
#include "schedule/lower/rangeify.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "ir/build.h"
#include "ir/combine.h"
#include "ir/walk.h"
#include "schedule/lower/dedup_kernels.h"
#include "schedule/lower/index_map.h"

namespace sinter::schedule {
namespace {

using ir::Indexed;
using ir::mix;
using ir::Op;
using ir::UOp;

class Writer {
 public:
  Writer(const Partition& p, const Placement& placement, const std::vector<int>& member_of,
         const std::vector<uint64_t>& blind, int number)
      : p_(p),
        placement_(placement),
        member_of_(member_of),
        blind_(blind),
        number_(number),
        kernel_(p.kernels[static_cast<size_t>(number)]),
        places_(p, kernel_),
        g_(places_.graph()) {}

  Ranged write() {
    for (const Member& m : kernel_.members) loops_[m.stage] = &m.reduced;
    for (const auto& [sum, ranges] : sums_across(kernel_)) across_[sum] = ranges;
    auto late = [&](const Stored& o) { return std::binary_search(kernel_.late.begin(), kernel_.late.end(), o.stage); };
    std::vector<UOp> stores;
    for (const auto& [sum, ranges] : across_) store_parts(sum, stores);  // what they read, outputs may overwrite
    for (const Stored& o : kernel_.outputs)
      if (!late(o)) store(o, stores);
    out_.kernel.graph = places_.arena();
    out_.kernel.sink = ir::sink(g_, std::move(stores));
    if (!across_.empty()) {
      places_.be_late();
      done_.clear();
      std::vector<UOp> last;
      for (const Stored& o : kernel_.outputs)
        if (late(o)) store(o, last);
      out_.kernel.finish = ir::sink(g_, std::move(last));
    }
    out_.kernel.outer = places_.outer();
    out_.kernel.params = static_cast<int>(places_.buffers().size());
    out_.buffers = places_.buffers();
    out_.args = places_.args();
    out_.kernel.args = places_.arg_types();
    for (UOp n : nodes_of(out_.kernel))
      if (n->op == Op::Var &&
          std::find(out_.kernel.vars.begin(), out_.kernel.vars.end(), n->get<Var>()) == out_.kernel.vars.end())
        out_.kernel.vars.push_back(n->get<Var>());
    out_.kernel.name = name();
    return std::move(out_);
  }

 private:
  struct Request {
    int stage = -1;  // a stage, or
    UOp leaf = {};   // numbers without memory
    int place = 0;   // where it is needed
    UOp gate = {};   // the value is zero where this is false
    int part = -1;   // of a sum across outer ranges: what one point adds to this accumulator
  };
  struct Frame {
    Request of;
    std::vector<Request> requests = {};
    int step = 0;
    std::vector<UOp> ranges = {};  // of a reduction
  };

  const Stage& stage(int s) const { return p_.graph.stages[static_cast<size_t>(s)]; }
  bool member(int s) const { return member_of_[static_cast<size_t>(s)] == number_; }
  static uint64_t key(const Request& r) {
    return static_cast<uint64_t>(r.stage) << 34 | static_cast<uint64_t>(r.part + 1) << 32 |
           static_cast<uint32_t>(r.place);
  }

  /// From the place of `head` down its movement nodes.
  Request request(const Source& source, int at) {
    const Places::Moved to = places_.down(source.head, at);
    return {source.stage, to.node, to.place, to.gate};
  }

  UOp load(int s, const Indexed& at) {
    UOp n = stage(s).node;
    const int buffer = stage(s).kind == StageKind::Buffer ? static_cast<int>(n->integer())
                                                          : placement_.stage_buffers[static_cast<size_t>(s)];
    UOp from = places_.param(buffer, n->dtype, n->shape);
    return ir::load(from, at.index, at.valid, at.valid ? places_.zero(n->dtype) : UOp());
  }

  /// The value of a request, or null if it must be evaluated first.
  UOp value(const Request& r) {
    const Indexed& at = places_[r.place];
    if (at.valid && at.valid->op == Op::Const)  // nowhere: a gate that holds everywhere is null
      return places_.zero(r.stage >= 0 ? stage(r.stage).node->dtype : r.leaf->dtype);
    UOp v;
    if (r.stage >= 0 && !member(r.stage)) {
      v = load(r.stage, at);
      if (r.gate == at.valid) return v;
    } else if (r.stage < 0) {
      v = places_.leaf(r.leaf, at);
    } else {
      auto it = done_.find(key(r));
      if (it == done_.end()) return {};
      v = it->second;
    }
    if (!r.gate) return v;
    return ir::where(r.gate, v, places_.zero(v->dtype));
  }

  UOp evaluate(const Request& root) {
    if (UOp v = value(root)) return v;
    std::vector<Frame> stack;
    stack.push_back({root});
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (done_.contains(key(f.of))) {
        stack.pop_back();
        continue;
      }
      if (f.requests.empty()) open(f);
      std::vector<UOp> values;
      const Request* missing = nullptr;
      // First uses follow the blind order, so that kernels which differ in buffers only number them alike.
      for (size_t i : walk_order(f)) {
        if (value(f.requests[i])) continue;
        missing = &f.requests[i];
        break;
      }
      if (missing) {
        const Request next = *missing;
        stack.push_back({next});
        continue;
      }
      for (const Request& r : f.requests) values.push_back(value(r));
      if (UOp v = close(f, values)) {
        done_.emplace(key(f.of), v);
        stack.pop_back();
      }
    }
    return value(root);
  }

  std::vector<size_t> walk_order(const Frame& f) const {
    std::vector<size_t> order(f.requests.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (order.size() == 2 && ir::has(stage(f.of.stage).node->op, ir::kCommutative)) {
      auto look = [&](const Request& r) { return r.stage < 0 ? uint64_t{0} : blind_[static_cast<size_t>(r.stage)]; };
      if (look(f.requests[1]) < look(f.requests[0])) std::swap(order[0], order[1]);
    }
    return order;
  }

  /// What a stage needs first.
  void open(Frame& f) {
    const Stage& s = stage(f.of.stage);
    if (s.kind == StageKind::Reduce) {
      if (across_.contains(f.of.stage) && f.of.part < 0) return;  // its parts lie in memory
      Indexed at = places_[f.of.place];
      const std::vector<int>& loops = *loops_.at(f.of.stage);
      Places::Bound bound = places_.bind(loops, at);
      size_t next = 0;
      at.index = ir::with_axes(std::move(at.index), s.node->reduction().axes, [&](int64_t d) {
        return s.node->src[0]->shape[d] == 1 ? places_.zero(DType::Index)
                                             : places_.expression(p_.space.expand({loops[next++]}), bound.index);
      });
      f.ranges = std::move(bound.ranges);
      const int inside = places_.place(std::move(at));
      for (const Source& src : s.sources) f.requests.push_back(request(src, inside));
    } else if (s.kind == StageKind::Gather) {
      f.requests.push_back(request(s.sources[1], f.of.place));
    } else {
      for (const Source& src : s.sources) f.requests.push_back(request(src, f.of.place));
    }
  }

  /// The stage's value, or null when new requests came up.
  UOp close(Frame& f, std::vector<UOp>& values) {
    const Stage& s = stage(f.of.stage);
    UOp n = s.node;
    switch (s.kind) {
      case StageKind::Reduce: {
        const ir::ReduceAttr& attr = n->reduction();
        if (places_.empty(*loops_.at(f.of.stage)))
          return ir::constant(g_, ir::identity_of(attr.combine, n->dtype, attr.result), n->dtype);
        if (f.of.part >= 0)
          return ir::reduce_over(attr.combine, values, f.ranges,
                                 {attr.tree.lanes, joins_groups(f.of.stage) ? attr.tree.block : 0}, f.of.part);
        if (across_.contains(f.of.stage)) return sum_of_parts(f.of.stage, places_[f.of.place]);
        return ir::reduce_over(attr.combine, values, f.ranges, attr.tree, attr.result);
      }
      case StageKind::Scan: {
        const ir::ReduceAttr& attr = n->reduction();
        std::vector<UOp> ranges;
        for (int a : p_.space.expand(*loops_.at(f.of.stage))) ranges.push_back(places_.expression({a}));
        if (ranges.empty()) ranges.push_back(places_.range(1));
        return ir::scan_over(attr.combine, values, ranges, attr.result);
      }
      case StageKind::Gather: {
        if (f.step++ == 0) {
          const auto axis = static_cast<size_t>(n->integer());
          Indexed at = places_[f.of.place];
          at.index[axis] = places_.checked(values[0], n->src[0]->shape[axis], n->shape, at.valid);
          const UOp gate = at.valid;
          f.requests.push_back(request(s.sources[0], places_.place(std::move(at))));
          if (!f.requests.back().gate) f.requests.back().gate = gate;  // a value that no load gates is gated here
          return {};
        }
        return values[1];
      }
      case StageKind::Elementwise: {
        if (n->op == Op::Cast) return ir::cast(values[0], n->dtype);
        return g_.make({n->op, n->dtype, {}, std::move(values), n->attr});
      }
      default: return values[0];
    }
  }

  // ---- sums across outer ranges
  /// The parts of an accumulator lie by point, then as the sum does.
  UOp parts_of(int sum, size_t accumulator) {
    std::vector<Dim> dims;
    for (int a : across_.at(sum)) dims.push_back(points_along(p_.space, kernel_, a));
    UOp n = stage(sum).node;
    dims.insert(dims.end(), n->shape.begin(), n->shape.end());
    return places_.param(buffers_of(sum)[accumulator], n->src[accumulator]->dtype, Shape(std::move(dims)));
  }
  const std::vector<int>& buffers_of(int sum) const { return placement_.parts.at({number_, sum}); }
  std::vector<UOp> points_of(int sum) const {
    std::vector<UOp> points;
    for (int a : across_.at(sum)) points.push_back(places_.point(a));
    return points;
  }

  /// What each point adds to a sum: of several accumulators all, though only some of them may be wanted in the end.
  void store_parts(int sum, std::vector<UOp>& stores) {
    const std::vector<int>& buffers = buffers_of(sum);
    if (std::find(out_.writes.begin(), out_.writes.end(), buffers[0]) != out_.writes.end()) return;
    const Member& m = *std::find_if(kernel_.members.begin(), kernel_.members.end(),
                                    [&](const Member& member) { return member.stage == sum; });
    Indexed at = index_of(m.at[0]);
    std::vector<UOp> index = points_of(sum);
    index.insert(index.end(), at.index.begin(), at.index.end());
    const int place = places_.place(std::move(at));
    for (size_t k = 0; k < buffers.size(); ++k) {
      const UOp part = evaluate({.stage = sum, .place = place, .part = static_cast<int>(k)});
      stores.push_back(ir::store(parts_of(sum, k), index, part));
    }
    out_.writes.insert(out_.writes.end(), buffers.begin(), buffers.end());
  }

  UOp sum_of_parts(int sum, const Indexed& at) {
    std::vector<UOp>& ranges = late_ranges_[across_.at(sum)];
    if (ranges.empty())
      for (int a : across_.at(sum)) ranges.push_back(places_.range(points_along(p_.space, kernel_, a)));
    std::vector<UOp> index = ranges;
    index.insert(index.end(), at.index.begin(), at.index.end());
    const ir::ReduceAttr& attr = stage(sum).node->reduction();
    std::vector<UOp> parts;
    for (size_t k = 0; k < buffers_of(sum).size(); ++k) {
      UOp from = parts_of(sum, k);
      parts.push_back(ir::load(from, index, at.valid, at.valid ? places_.zero(from->dtype) : UOp()));
    }
    int64_t points = 1;
    for (int a : across_.at(sum)) points *= points_along(p_.space, kernel_, a).bound();
    const ir::Tree tree = joins_groups(sum) ? ir::Tree{1, attr.tree.group, ir::Tree::kJoined} : attr.tree;
    return ir::reduce_over(ir::joining(attr.combine), parts, ranges, ir::joining(tree, points), attr.result);
  }
  /// Whether each point reduces a group of the sum's tree, not a block.
  bool joins_groups(int sum) {
    const std::vector<int>& axes = *loops_.at(sum);
    int64_t inside = 1;
    for (size_t i = across_.at(sum).size(); i < axes.size(); ++i) inside *= p_.space.bound(axes[i]);
    return sums_groups(kernel_.blocks, stage(sum).node->reduction().tree, inside);
  }

  // ---- stores
  Indexed index_of(IndexId id) {
    Indexed at;
    for (const DimIndex& d : p_.space[id]) at.index.push_back(places_.expression(Places::axes_of(d)));
    return at;
  }

  void store(const Stored& out, std::vector<UOp>& stores) {
    const Stage& s = stage(out.stage);
    if (s.kind != StageKind::ScatterAdd && places_.empty(p_.space.axes_of(out.at))) return;
    if (s.kind == StageKind::ScatterAdd) return scatter(out, stores);
    Indexed at = index_of(out.at);
    Indexed target = at;
    if (s.target) target = ir::through(g_, places_.local(s.target), at);
    const UOp v = evaluate({.stage = out.stage, .place = places_.place(std::move(at))});
    for (int b : destinations(out.stage)) stores.push_back(ir::store(destination(s, b), target.index, v));
  }

  UOp destination(const Stage& s, int buffer) { return places_.param(buffer, s.node->dtype, s.node->shape); }

  /// Where the value goes: into its home last, so that the other stores do not read what it overwrites.
  std::vector<int> destinations(int number) {
    std::vector<int> buffers;
    for (bool home : {false, true})
      for (int o : stage(number).outputs)
        if ((p_.graph.homes[static_cast<size_t>(o)] >= 0) == home)
          buffers.push_back(placement_.output_buffers[static_cast<size_t>(o)]);
    if (buffers.empty()) buffers.push_back(placement_.stage_buffers[static_cast<size_t>(number)]);
    out_.writes.insert(out_.writes.end(), buffers.begin(), buffers.end());
    return buffers;
  }

  /// First the base into every element, unless it lies there already; then the updates in order.
  void scatter(const Stored& out, std::vector<UOp>& stores) {
    const Stage& s = stage(out.stage);
    UOp n = s.node;
    const auto axis = static_cast<size_t>(n->integer());
    Indexed fill = index_of(out.at), update = fill, to = fill;
    const bool lies_there = s.sources[0].stage >= 0 && stage(s.sources[0].stage).kind == StageKind::Buffer &&
                            s.sources[0].head->op == Op::Param;
    UOp base;
    const std::vector<int> buffers = destinations(out.stage);
    for (int buffer : buffers) {
      if (lies_there && buffer == static_cast<int>(stage(s.sources[0].stage).node->integer())) continue;
      if (!base) base = evaluate(request(s.sources[0], places_.place(fill)));
      stores.push_back(ir::store(destination(s, buffer), fill.index, base));
    }
    const std::vector<int> turns = p_.space.expand(*loops_.at(out.stage));
    update.index[axis] = places_.expression(turns);
    const int there = places_.place(update);
    UOp gate;
    UOp target = places_.checked(evaluate(request(s.sources[1], there)), n->shape[axis], n->src[1]->shape, gate);
    UOp value = evaluate(request(s.sources[2], there));
    to.index[axis] = target;
    for (int a : turns)
      if (!places_.depends(target, a) && !places_.depends(value, a)) out_.alike = n;
    for (int buffer : buffers) stores.push_back(ir::store(destination(s, buffer), to.index, value, true, gate));
  }

  /// "r_256_128_784": outer extents, then those of loops inside.
  std::string name() const {
    std::string sizes;
    auto add = [&](const Dim& d) { sizes += d.symbolic() ? "_n" : fmt::format("_{}", d.value()); };
    for (const Dim& d : out_.kernel.outer) add(d);
    const char* kind = "e";
    for (int a : kernel_.inner) add(p_.space.size(a));
    for (const Member& m : kernel_.members) {
      if (stage(m.stage).kind == StageKind::ScatterAdd) kind = "s";
      if (stage(m.stage).kind == StageKind::Reduce && *kind == 'e') kind = "r";
    }
    return fmt::format("{}{}", kind, sizes.empty() ? "_1" : sizes);
  }

  const Partition& p_;
  const Placement& placement_;
  const std::vector<int>& member_of_;
  const std::vector<uint64_t>& blind_;
  const int number_;
  const Kernel& kernel_;
  Places places_;
  ir::Graph& g_;
  Ranged out_;
  std::unordered_map<int, const std::vector<int>*> loops_;  ///< per member: the axes of its own loops
  std::map<int, std::vector<int>> across_;                  ///< per sum across outer ranges: these ranges
  std::map<std::vector<int>, std::vector<UOp>> late_ranges_;
  std::unordered_map<uint64_t, UOp> done_;
};

uint64_t hash_of_chain(const Source& source, uint64_t value) {
  for (UOp n = source.head; ir::is_movement(n->op); n = n->src[0])
    value = mix(mix(value, static_cast<uint64_t>(n->op)), mix(ir::hash_of(n->attr), ir::hash_of(n->shape)));
  return value;
}

}  // namespace

Rangeifier::Rangeifier(const Partition& partition, const Placement& placement)
    : partition_(partition),
      placement_(placement),
      member_of_(partition.graph.stages.size(), -1),
      blind_(partition.graph.stages.size()) {}

Ranged Rangeifier::kernel(int number) {
  std::vector<int> members;
  for (const Member& m : partition_.kernels[static_cast<size_t>(number)].members) {
    member_of_[static_cast<size_t>(m.stage)] = number;
    members.push_back(m.stage);
  }
  std::sort(members.begin(), members.end());  // sources first, as stages are numbered
  members.erase(std::unique(members.begin(), members.end()), members.end());
  for (int m : members) {
    const Stage& s = partition_.graph.stages[static_cast<size_t>(m)];
    UOp n = s.node;
    uint64_t h = mix(mix(static_cast<uint64_t>(n->op), static_cast<uint64_t>(n->dtype)),
                     mix(ir::hash_of(n->attr), ir::hash_of(n->shape)));
    for (const Source& src : s.sources) {
      uint64_t from = 0;
      if (src.stage >= 0 && member_of_[static_cast<size_t>(src.stage)] == number) {
        from = blind_[static_cast<size_t>(src.stage)];
      } else if (src.stage >= 0) {
        UOp read = partition_.graph.stages[static_cast<size_t>(src.stage)].node;
        from = mix(static_cast<uint64_t>(read->dtype), ir::hash_of(read->shape));
        blind_[static_cast<size_t>(src.stage)] = from;
      }
      h = mix(h, hash_of_chain(src, from));
    }
    blind_[static_cast<size_t>(m)] = h;
  }
  return Writer(partition_, placement_, member_of_, blind_, number).write();
}

}  // namespace sinter::schedule

// One expression per (stage, place), sources first, on an explicit stack.
#include "schedule/rangeify.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "codegen/ranges.h"
#include "rewrite/index_math.h"
#include "rewrite/view.h"
#include "runtime/interpreter.h"
#include "schedule/gate.h"
#include "sinter/error.h"
#include "uop/build.h"
#include "uop/walk.h"

namespace sinter::schedule {
namespace {

using ir::Indexed;
using ir::IndexMath;
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
        graph_(std::make_shared<ir::Arena>()),
        g_(*graph_),
        math_(g_) {}

  Ranged write() {
    for (int a : kernel_.outer) {
      const Dim& size = p_.space.size(a);
      axes_[a] = range(size, ir::AxisKind::Outer);
      out_.kernel.outer.push_back(size);
    }
    for (int a : kernel_.inner) axes_[a] = range(p_.space.size(a), ir::AxisKind::Inner);
    for (const Member& m : kernel_.members) loops_[m.stage] = &m.reduced;
    std::vector<UOp> stores;
    for (const Stored& o : kernel_.outputs)
      if (stage(o.stage).kind == StageKind::ScatterAdd || !empty(p_.space.axes_of(o.at))) store(o, stores);
    out_.kernel.graph = graph_;
    out_.kernel.sink = ir::sink(g_, std::move(stores));
    out_.kernel.params = static_cast<int>(out_.buffers.size());
    for (UOp n : ir::topological(out_.kernel.sink))
      if (n->op == Op::Var &&
          std::find(out_.kernel.vars.begin(), out_.kernel.vars.end(), n->get<Var>()) == out_.kernel.vars.end())
        out_.kernel.vars.push_back(n->get<Var>());
    out_.kernel.name = name();
    return std::move(out_);
  }

 private:
  struct Request {
    int stage = -1;      // a stage, or
    UOp leaf;            // numbers without memory
    int place = 0;       // where it is needed
    UOp gate = {};       // the value is zero where this is false
  };
  struct Frame {
    int stage, place;
    std::vector<Request> requests;
    int step = 0;
    std::vector<UOp> ranges = {};  // of a reduction
  };
  using AxisRanges = std::map<int, UOp>;
  struct PlaceHash {
    size_t operator()(const Indexed& at) const {
      size_t h = std::hash<UOp>{}(at.valid);
      for (UOp i : at.index) h = mix(h, std::hash<UOp>{}(i));
      return h;
    }
  };
  struct PlaceEqual {
    bool operator()(const Indexed& a, const Indexed& b) const { return a.valid == b.valid && a.index == b.index; }
  };

  const Stage& stage(int s) const { return p_.graph.stages[static_cast<size_t>(s)]; }
  bool member(int s) const { return member_of_[static_cast<size_t>(s)] == number_; }
  static uint64_t key(int stage, int place) {
    return static_cast<uint64_t>(stage) << 32 | static_cast<uint32_t>(place);
  }

  int place(Indexed at) {
    auto [it, fresh] = place_ids_.try_emplace(std::move(at), static_cast<int>(places_.size()));
    if (fresh) places_.push_back(&it->first);
    return it->second;
  }

  UOp range(const Dim& size, ir::AxisKind kind) { return ir::range(ir::extent_of(g_, size), ranges_++, kind); }

  UOp param(int buffer, DType dtype, const Shape& shape) {
    auto [it, fresh] = params_.try_emplace(buffer, static_cast<int>(out_.buffers.size()));
    if (fresh) out_.buffers.push_back(buffer);
    return ir::param(g_, it->second, dtype, shape);
  }

  UOp argument(UOp n) {
    const int plan = static_cast<int>(n->integer());
    auto [it, fresh] = args_.try_emplace(plan, static_cast<int>(out_.args.size()));
    if (fresh) {
      out_.args.push_back(plan);
      out_.kernel.args.push_back(n->dtype);
    }
    return ir::argument(g_, it->second, n->dtype);
  }

  /// From the place of `head` down its movement nodes.
  Request request(const Source& source, int at) {
    UOp n = source.head;
    if (ir::is_movement(n->op)) {
      Indexed now = *places_[static_cast<size_t>(at)];
      for (; ir::is_movement(n->op); n = n->src[0]) {
        now = ir::through(g_, local(n), now);
        for (size_t i = 0; i < now.index.size(); ++i)
          if (n->src[0]->shape[i] == 1) now.index[i] = math_.constant(0);  // where there is an element at all
      }
      const UOp gate = now.valid == places_[static_cast<size_t>(at)]->valid ? UOp() : now.valid;
      now.valid = still_needed(now, free_);
      return {source.stage, n, place(std::move(now)), gate};
    }
    return {source.stage, n, at, {}};
  }

  /// A movement node whose begins are arguments, with this kernel's arguments.
  UOp local(UOp n) {
    if (n->src.size() < 2) return n;
    std::vector<UOp> src{ir::param(g_, -1, n->src[0]->dtype, n->src[0]->shape)};
    for (size_t i = 1; i < n->src.size(); ++i) src.push_back(leaf(n->src[i], {}));
    return g_.make({n->op, n->dtype, n->shape, std::move(src), n->attr});
  }

  UOp leaf(UOp n, const Indexed& at) {
    switch (n->op) {
      case Op::Const: return ir::constant(g_, n->scalar(), n->dtype);
      case Op::Arange: return ir::cast(at.index[0], n->dtype);
      case Op::Var: return ir::cast(ir::variable(g_, n->get<Var>(), DType::Index), n->dtype);
      case Op::Arg: return argument(n);
      default: throw InternalError(fmt::format("rangeify: {} is no number", ir::info(n->op).name));
    }
  }

  UOp zero(DType dtype) { return ir::constant(g_, dtype, 0); }

  UOp load(int s, const Indexed& at) {
    UOp n = stage(s).node;
    const int buffer = stage(s).kind == StageKind::Buffer ? static_cast<int>(n->integer())
                                                          : placement_.stage_buffers[static_cast<size_t>(s)];
    return ir::load(param(buffer, n->dtype, n->shape), at.index, at.valid, at.valid ? zero(n->dtype) : UOp());
  }

  /// The value of a request, or null if it must be evaluated first.
  UOp value(const Request& r) {
    const Indexed& at = *places_[static_cast<size_t>(r.place)];
    if (at.valid && at.valid->op == Op::Const)  // nowhere: a gate that holds everywhere is null
      return zero(r.stage >= 0 ? stage(r.stage).node->dtype : r.leaf->dtype);
    UOp v;
    if (r.stage >= 0 && !member(r.stage)) {
      v = load(r.stage, at);
      if (r.gate == at.valid) return v;
    } else if (r.stage < 0) {
      v = leaf(r.leaf, at);
    } else {
      auto it = done_.find(key(r.stage, r.place));
      if (it == done_.end()) return {};
      v = it->second;
    }
    if (!r.gate) return v;
    return ir::where(r.gate, v, zero(v->dtype));
  }

  UOp evaluate(const Request& root) {
    if (UOp v = value(root)) return v;
    std::vector<Frame> stack;
    stack.push_back({root.stage, root.place, {}});
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (done_.contains(key(f.stage, f.place))) {
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
        stack.push_back({missing->stage, missing->place, {}});
        continue;
      }
      for (const Request& r : f.requests) values.push_back(value(r));
      if (UOp v = close(f, values)) {
        done_.emplace(key(f.stage, f.place), v);
        stack.pop_back();
      }
    }
    return value(root);
  }

  std::vector<size_t> walk_order(const Frame& f) const {
    std::vector<size_t> order(f.requests.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (order.size() == 2 && ir::has(stage(f.stage).node->op, ir::kCommutative)) {
      auto look = [&](const Request& r) { return r.stage < 0 ? uint64_t{0} : blind_[static_cast<size_t>(r.stage)]; };
      if (look(f.requests[1]) < look(f.requests[0])) std::swap(order[0], order[1]);
    }
    return order;
  }

  /// What a stage needs first.
  void open(Frame& f) {
    const Stage& s = stage(f.stage);
    if (s.kind == StageKind::Reduce) {
      Indexed at = *places_[static_cast<size_t>(f.place)];
      const std::vector<int>& loops = *loops_.at(f.stage);
      const AxisRanges ranges = ranges_of(loops, at);
      size_t next = 0;
      for (int64_t d : s.node->reduction().axes)
        if (!(s.node->src[0]->shape[static_cast<size_t>(d)] == 1))
          at.index[static_cast<size_t>(d)] = expression(p_.space.expand({loops[next++]}), ranges);
      for (int a : p_.space.expand(loops)) f.ranges.push_back(ranges.at(a));
      if (f.ranges.empty()) f.ranges.push_back(range(1, ir::AxisKind::Inner));
      const int inside = place(std::move(at));
      for (const Source& src : s.sources) f.requests.push_back(request(src, inside));
    } else if (s.kind == StageKind::Gather) {
      f.requests.push_back(request(s.sources[1], f.place));
    } else {
      for (const Source& src : s.sources) f.requests.push_back(request(src, f.place));
    }
  }

  /// The stage's value, or null when new requests came up.
  UOp close(Frame& f, std::vector<UOp>& values) {
    const Stage& s = stage(f.stage);
    UOp n = s.node;
    switch (s.kind) {
      case StageKind::Reduce: {
        const ir::ReduceAttr& attr = n->reduction();
        if (empty(*loops_.at(f.stage))) return ir::constant(g_, ir::identity_of(attr.combine, n->dtype), n->dtype);
        return ir::reduce_over(attr.combine, values, f.ranges, attr.tree);
      }
      case StageKind::Gather: {
        if (f.step++ == 0) {
          const auto axis = static_cast<size_t>(n->integer());
          Indexed at = *places_[static_cast<size_t>(f.place)];
          at.index[axis] = checked(values[0], n->src[0]->shape[axis], n->shape, at.valid);
          const UOp gate = at.valid;
          f.requests.push_back(request(s.sources[0], place(std::move(at))));
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

  /// The kernel's ranges, or new ones for the loops of a reduction at a place that depends on loops inside those: a gate
  /// may depend on more than the index that the partition knew.
  AxisRanges ranges_of(const std::vector<int>& loops, const Indexed& at) {
    std::vector<UOp> around = at.index;
    if (at.valid) around.push_back(at.valid);
    codegen::RangeSet open;
    for (UOp u : around) open |= free_.free(u);
    AxisRanges ranges = axes_;
    const std::vector<int> own = p_.space.expand(loops);
    const bool inside = std::all_of(own.begin(), own.end(), [&](int a) {
      return std::all_of(axes_.begin(), axes_.end(), [&](const auto& other) {
        return !open[free_.number(other.second)] || codegen::range_id(other.second) < codegen::range_id(axes_.at(a));
      });
    });
    if (inside && !(open & fresh_).any()) return ranges;
    for (int a : own) {
      ranges[a] = range(p_.space.size(a), ir::AxisKind::Inner);
      fresh_.set(free_.number(ranges[a]));
    }
    return ranges;
  }

  /// An index that was read, from a tensor of shape `indices` (SEMANTICS F6): negative ones count from the end, one out
  /// of range raises the error bit. Narrows the gate.
  UOp checked(UOp index, const Dim& size, const Shape& indices, UOp& valid) {
    UOp extent = ir::extent_of(g_, size);
    IndexMath free(g_), m = valid ? IndexMath(free, valid) : free;
    UOp i = m.to_index(index->dtype == DType::Index ? index : ir::cast(index, DType::Index));
    UOp negative = m.lt(i, m.constant(0));
    if (negative->op != Op::Const)
      i = ir::where(negative, m.add(i, extent), i);
    else if (negative->scalar().as_int())
      i = m.add(i, extent);
    UOp ok = size == 0 ? ir::constant(g_, DType::Bool, 0) : m.both(m.le(m.constant(0), i), m.lt(i, extent));
    if (!ok || (ok->op == Op::Const && ok->scalar().as_int())) return i;
    // An index that is never right is not even read, so that nothing but this says whether there is one.
    const bool shut = ok->op == Op::Const;
    UOp raise = ok;
    if (shut)
      for (const Dim& d : indices) raise = ir::alu(Op::Or, {raise, ir::eq(ir::extent_of(g_, d), m.constant(0))});
    if (valid) raise = ir::alu(Op::Or, {raise, ir::alu(Op::Not, {valid})});
    // The check is on the gate, not on the index: a table that is one value all along the axis needs no index. The bare
    // condition stands beside it, for what it says about the index; where it never holds the check says so itself,
    // because a gate that is known to be shut would be dropped, and the check with it.
    UOp check = g_.make({Op::Check, DType::Bool, {}, {ok, raise}, runtime::kIndexErrorBit});
    valid = free.both(shut ? valid : free.both(valid, ok), check);
    return i;
  }

  bool empty(const std::vector<int>& axes) const {
    return std::any_of(axes.begin(), axes.end(), [&](int a) { return p_.space.bound(a) == 0; });
  }

  /// One index over all of these axes in row-major order.
  UOp expression(const std::vector<int>& axes, const AxisRanges& ranges) {
    if (axes.size() == 1) return ranges.at(axes[0]);  // also where it is empty, and arithmetic would find a constant
    UOp i = math_.constant(0);
    for (int a : axes) i = math_.add(math_.mul(i, ir::extent_of(g_, p_.space.size(a))), ranges.at(a));
    return i;
  }
  UOp expression(const std::vector<int>& axes) { return expression(axes, axes_); }
  UOp expression(const DimIndex& dim) {
    std::vector<int> axes;
    for (const Digit& d : dim.digits) axes.push_back(d.axis);
    return expression(axes);
  }

  void store(const Stored& out, std::vector<UOp>& stores) {
    const Stage& s = stage(out.stage);
    if (s.kind == StageKind::ScatterAdd) return scatter(out, stores);
    Indexed at;
    for (const DimIndex& d : p_.space[out.at]) at.index.push_back(expression(d));
    Indexed target = at;
    if (s.target) target = ir::through(g_, local(s.target), at);
    const UOp v = evaluate({out.stage, {}, place(std::move(at)), {}});
    for (int b : destinations(out.stage)) stores.push_back(ir::store(destination(s, b), target.index, v));
  }

  UOp destination(const Stage& s, int buffer) {
    UOp n = s.node;
    return param(buffer, n->dtype, n->shape);
  }

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
    Indexed at;
    const Index& index = p_.space[out.at];
    for (const DimIndex& d : index) at.index.push_back(expression(d));
    Indexed fill = at, update = at;
    const bool lies_there = s.sources[0].stage >= 0 && stage(s.sources[0].stage).kind == StageKind::Buffer &&
                            s.sources[0].head->op == Op::Param;
    UOp base;
    const std::vector<int> buffers = destinations(out.stage);
    for (int buffer : buffers) {
      if (lies_there && buffer == static_cast<int>(stage(s.sources[0].stage).node->integer())) continue;
      if (!base) base = evaluate(request(s.sources[0], place(fill)));
      stores.push_back(ir::store(destination(s, buffer), fill.index, base));
    }
    update.index[axis] = expression(p_.space.expand(*loops_.at(out.stage)));
    const int there = place(update);
    UOp gate;
    UOp target = checked(evaluate(request(s.sources[1], there)), n->shape[axis], n->src[1]->shape, gate);
    UOp value = evaluate(request(s.sources[2], there));
    Indexed to = at;
    to.index[axis] = target;
    for (int a : p_.space.expand(*loops_.at(out.stage)))
      if (!free_.depends(target, axes_.at(a)) && !free_.depends(value, axes_.at(a))) out_.alike = n;
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
  std::shared_ptr<ir::Arena> graph_;
  ir::Graph& g_;
  IndexMath math_;
  Ranged out_;
  int ranges_ = 0;
  AxisRanges axes_;
  codegen::Ranges free_;
  codegen::RangeSet fresh_;  ///< ranges that are no axis of the partition
  std::unordered_map<int, const std::vector<int>*> loops_;  ///< per member: the axes of its own loops
  std::unordered_map<int, int> params_, args_;
  std::unordered_map<Indexed, int, PlaceHash, PlaceEqual> place_ids_;
  std::vector<const Indexed*> places_;
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

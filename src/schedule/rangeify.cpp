// One expression per (stage, place), sources first, on an explicit stack.
#include "schedule/rangeify.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "rewrite/index_math.h"
#include "rewrite/view.h"
#include "sinter/error.h"
#include "uop/build.h"
#include "uop/mutant.h"
#include "uop/walk.h"

namespace sinter::schedule {
namespace {

using ir::Indexed;
using ir::IndexMath;
using ir::mix;
using ir::Op;
using ir::UOp;

/// Bit of the error word for an index out of range (SEMANTICS F6).
constexpr int64_t kIndexErrorBit = 0;

class Writer {
 public:
  Writer(const Partition& p, const Placement& placement, const std::vector<int>& member_of,
         const std::vector<uint64_t>& blind, const std::vector<int>& depth, int number)
      : p_(p),
        placement_(placement),
        member_of_(member_of),
        blind_(blind),
        depth_(depth),
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
    std::vector<UOp> stores;
    for (const Stored& o : kernel_.outputs) store(o, stores);
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
    bool gated = false;  // zero outside of the place's gate
  };
  struct Frame {
    int stage, place;
    std::vector<Request> requests;
    int step = 0;
  };
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
      const bool gated = !(now.valid == places_[static_cast<size_t>(at)]->valid);
      return {source.stage, n, place(std::move(now)), gated};
    }
    return {source.stage, n, at, false};
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
      case Op::Arange:
        if (ir::is_mutant(ir::Mutant::ArangeOffByOne))
          return ir::cast(math_.add(at.index[0], math_.constant(1)), n->dtype);
        return ir::cast(at.index[0], n->dtype);
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
    if (r.stage >= 0 && !member(r.stage)) return load(r.stage, at);
    UOp v;
    if (r.stage < 0) {
      v = leaf(r.leaf, at);
    } else {
      auto it = done_.find(key(r.stage, r.place));
      if (it == done_.end()) return {};
      v = it->second;
    }
    if (!r.gated || !at.valid || ir::is_mutant(ir::Mutant::GateLost)) return v;
    return ir::where(at.valid, v, zero(v->dtype));
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
      const std::vector<UOp>& ranges = reduce_ranges(f.stage);
      size_t next = 0;
      for (int64_t d : reduced_axes(s)) {
        UOp r = ranges[next++];
        if (!(s.node->src[0]->shape[static_cast<size_t>(d)] == 1)) at.index[static_cast<size_t>(d)] = r;
      }
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
        return ir::reduce_over(attr.combine, values, reduce_ranges(f.stage), attr.tree);
      }
      case StageKind::Gather: {
        if (f.step++ == 0) {
          const auto axis = static_cast<size_t>(n->integer());
          Indexed at = *places_[static_cast<size_t>(f.place)];
          at.index[axis] = checked(values[0], n->src[0]->shape[axis], n->shape, at.valid);
          f.requests.push_back(request(s.sources[0], place(std::move(at))));
          // A value that no load gates is gated here.
          f.requests.back().gated = true;
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

  ir::Ints reduced_axes(const Stage& s) const {
    const Shape& from = s.node->src[0]->shape;
    ir::Ints axes;
    for (int64_t d : s.node->reduction().axes)
      if (!(from[static_cast<size_t>(d)] == 1)) axes.push_back(d);
    if (axes.empty()) axes.push_back(s.node->reduction().axes[0]);
    return axes;
  }

  /// Reductions of equal depth and extents share their ranges: they may run in one loop.
  const std::vector<UOp>& reduce_ranges(int number) {
    const Stage& s = stage(number);
    std::vector<UOp> extents;
    for (int64_t d : reduced_axes(s))
      extents.push_back(ir::extent_of(g_, s.node->src[0]->shape[static_cast<size_t>(d)]));
    auto& shared = reduce_ranges_[{depth_[static_cast<size_t>(number)], ids(extents)}];
    if (shared.empty())
      for (UOp e : extents) shared.push_back(ir::range(e, ranges_++, ir::AxisKind::Reduce));
    return shared;
  }
  static std::vector<uint64_t> ids(const std::vector<UOp>& nodes) {
    std::vector<uint64_t> out;
    for (UOp n : nodes) out.push_back(n->id);
    return out;
  }

  /// An index that was read, from a tensor of shape `indices` (SEMANTICS F6): negative ones count from the end, one out
  /// of range raises the error bit. Narrows the gate.
  UOp checked(UOp index, const Dim& size, const Shape& indices, UOp& valid) {
    UOp extent = ir::extent_of(g_, size);
    IndexMath free(g_), m = valid ? IndexMath(free, valid) : free;
    UOp i = m.to_index(index->dtype == DType::Index ? index : ir::cast(index, DType::Index));
    UOp negative = m.lt(i, m.constant(0));
    if (ir::is_mutant(ir::Mutant::NegativeIndex)) negative = m.constant(0);
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
    UOp check = g_.make({Op::Check, DType::Bool, {}, {ok, raise}, kIndexErrorBit});
    valid = free.both(shut ? valid : free.both(valid, ok), check);
    return i;
  }

  /// Digits of outer axes back to one expression.
  UOp expression(const DimIndex& dim, std::map<int, UOp>& axes) {
    UOp i = math_.constant(0);
    for (const Digit& d : dim.digits) i = math_.add(math_.mul(i, math_.constant(d.size)), axes.at(d.axis));
    return i;
  }

  void store(const Stored& out, std::vector<UOp>& stores) {
    const Stage& s = stage(out.stage);
    if (s.kind == StageKind::ScatterAdd) return scatter(out, stores);
    Indexed at;
    for (const DimIndex& d : p_.space[out.at]) at.index.push_back(expression(d, axes_));
    Indexed target = at;
    if (s.target) target = ir::through(g_, local(s.target), at);
    const UOp v = evaluate({out.stage, {}, place(std::move(at)), false});
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
    for (size_t d = 0; d < index.size(); ++d)
      at.index.push_back(d == axis ? math_.constant(0) : expression(index[d], axes_));
    auto inner = [&](const Dim& size) { return size == 1 ? math_.constant(0) : range(size, ir::AxisKind::Inner); };
    Indexed fill = at, update = at;
    const bool lies_there = s.sources[0].stage >= 0 && stage(s.sources[0].stage).kind == StageKind::Buffer &&
                            s.sources[0].head->op == Op::Param;
    UOp base;
    const std::vector<int> buffers = destinations(out.stage);
    for (int buffer : buffers) {
      if (lies_there && buffer == static_cast<int>(stage(s.sources[0].stage).node->integer())) continue;
      if (!base) {
        fill.index[axis] = inner(n->shape[axis]);
        base = evaluate(request(s.sources[0], place(fill)));
      }
      stores.push_back(ir::store(destination(s, buffer), fill.index, base));
    }
    UOp turn = update.index[axis] = inner(n->src[1]->shape[axis]);
    const int there = place(update);
    UOp gate;
    UOp target = checked(evaluate(request(s.sources[1], there)), n->shape[axis], n->src[1]->shape, gate);
    UOp value = evaluate(request(s.sources[2], there));
    Indexed to = at;
    to.index[axis] = target;
    if (turn->op == Op::Range && !depends(target, turn) && !depends(value, turn)) out_.alike = n;
    for (int buffer : buffers) stores.push_back(ir::store(destination(s, buffer), to.index, value, true, gate));
  }

  static bool depends(UOp value, UOp range) {
    const std::vector<UOp> all = ir::topological(value);
    return std::find(all.begin(), all.end(), range) != all.end();
  }

  /// "r_256_128_784": outer extents, then those of the first reduction.
  std::string name() const {
    std::string sizes;
    auto add = [&](const Dim& d) { sizes += d.symbolic() ? "_n" : fmt::format("_{}", d.value()); };
    for (const Dim& d : out_.kernel.outer) add(d);
    const char* kind = "e";
    for (const Member& m : kernel_.members) {
      const Stage& s = stage(m.stage);
      if (s.kind == StageKind::ScatterAdd) {
        kind = "s";
        add(s.node->src[1]->shape[static_cast<size_t>(s.node->integer())]);
      } else if (s.kind == StageKind::Reduce && *kind == 'e') {
        kind = "r";
        for (int64_t d : reduced_axes(s)) add(s.node->src[0]->shape[static_cast<size_t>(d)]);
      }
    }
    return kind + (sizes.empty() ? std::string("_1") : sizes);
  }

  const Partition& p_;
  const Placement& placement_;
  const std::vector<int>& member_of_;
  const std::vector<uint64_t>& blind_;
  const std::vector<int>& depth_;
  const int number_;
  const Kernel& kernel_;
  std::shared_ptr<ir::Arena> graph_;
  ir::Graph& g_;
  IndexMath math_;
  Ranged out_;
  int ranges_ = 0;
  std::map<int, UOp> axes_;
  std::map<std::pair<int, std::vector<uint64_t>>, std::vector<UOp>> reduce_ranges_;
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
      blind_(partition.graph.stages.size()),
      depth_(partition.graph.stages.size()) {}

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
    int depth = 0;
    for (const Source& src : s.sources) {
      uint64_t from = 0;
      if (src.stage >= 0 && member_of_[static_cast<size_t>(src.stage)] == number) {
        from = blind_[static_cast<size_t>(src.stage)];
        depth = std::max(depth, depth_[static_cast<size_t>(src.stage)]);
      } else if (src.stage >= 0) {
        UOp read = partition_.graph.stages[static_cast<size_t>(src.stage)].node;
        from = mix(static_cast<uint64_t>(read->dtype), ir::hash_of(read->shape));
        blind_[static_cast<size_t>(src.stage)] = from;
      }
      h = mix(h, hash_of_chain(src, from));
    }
    blind_[static_cast<size_t>(m)] = h;
    depth_[static_cast<size_t>(m)] = depth + (s.kind == StageKind::Reduce ? 1 : 0);
  }
  return Writer(partition_, placement_, member_of_, blind_, depth_, number).write();
}

}  // namespace sinter::schedule

// Brute force for index expressions: what they are at one point of their ranges, by the plain evaluator.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "ir/build.h"
#include "ir/scalar_eval.h"
#include "ir/walk.h"

namespace sinter::test {

/// Evaluates some roots at many points; leaves are looked up by node. A LOAD gives a number made of its indices, so
/// that a wrong one shows, and needs no memory.
class Oracle {
 public:
  explicit Oracle(std::vector<ir::UOp> roots) : roots_(std::move(roots)) {
    order_ = ir::topological(std::span<const ir::UOp>(roots_), [](ir::UOp u) { return computed(u); });
    for (size_t i = 0; i < order_.size(); ++i) place_[order_[i].get()] = i;
    value_.resize(order_.size());
  }
  /// The roots' values where leaf i has values[i].
  std::vector<ir::Scalar> at(const std::vector<ir::UOp>& leaves, const std::vector<ir::Scalar>& values) {
    for (size_t n = 0; n < order_.size(); ++n) {
      ir::UOp u = order_[n];
      if (u->op == ir::Op::Const) value_[n] = u->scalar();
      for (size_t i = 0; i < leaves.size(); ++i)
        if (leaves[i] == u) value_[n] = values[i];
      if (u->op == ir::Op::Load) value_[n] = loaded(u);
      if (!ir::is_alu(u->op)) continue;
      ir::Scalar args[3];
      for (size_t i = 0; i < u->src.size(); ++i) args[i] = value_[place_.at(u->src[i].get())];
      value_[n] = ir::evaluate(u->op, u->dtype, u->src.back()->dtype, {args, u->src.size()});
    }
    std::vector<ir::Scalar> out;
    for (ir::UOp r : roots_) out.push_back(value_[place_.at(r.get())]);
    return out;
  }
  size_t size() const { return order_.size(); }

 private:
  static bool computed(ir::UOp u) { return ir::is_alu(u->op) || u->op == ir::Op::Load; }
  ir::Scalar of(ir::UOp u) const { return value_[place_.at(u.get())]; }
  ir::Scalar loaded(ir::UOp u) const {
    const size_t dims = u->src[0]->rank();
    if (u->src.size() > dims + 1 && !of(u->src[dims + 1]).as_int()) return of(u->src[dims + 2]);
    int64_t mixed = u->src[0]->integer() + 1;
    for (size_t i = 1; i <= dims; ++i) mixed = mixed * 31 + of(u->src[i]).as_int();
    return ir::Scalar::of(u->dtype, mixed % 1009);
  }

  std::vector<ir::UOp> roots_, order_;
  std::map<const ir::Node*, size_t> place_;
  std::vector<ir::Scalar> value_;
};

/// Nodes of the expressions, each once.
inline size_t node_count(const std::vector<ir::UOp>& roots) { return Oracle(roots).size(); }

/// Random index expressions over a few ranges, with negative values, div, mod, min, max, selects and conditions.
class RandomIndex {
 public:
  RandomIndex(ir::Graph& g, std::mt19937& random) : g_(g), random_(random) {
    const int n = 1 + pick(4);
    for (int i = 0; i < n; ++i)
      ranges.push_back(ir::range(ir::constant(g_, DType::Index, 1 + pick(pick(3) ? 8 : 30)), i, ir::AxisKind::Outer));
  }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  ir::UOp number(int lo, int hi) { return ir::constant(g_, DType::Index, lo + pick(hi - lo + 1)); }
  ir::UOp range() { return ranges[static_cast<size_t>(pick(static_cast<int>(ranges.size())))]; }

  ir::UOp index(int depth) {
    if (depth == 0) return pick(5) ? range() : number(-9, 9);
    switch (pick(16)) {
      case 0:
      case 1:
      case 2:
      case 3: return index(depth - 1) + index(depth - 1);
      case 4: return index(depth - 1) - index(depth - 1);
      case 5:
      case 6: return index(depth - 1) * factor();
      case 7: return pick(2) ? -index(depth - 1) : index(depth / 2) * index(depth / 2);
      case 8:
      case 9:
      case 10: return ir::idiv(index(depth - 1), divisor());
      case 11:
      case 12:
      case 13: return ir::mod(index(depth - 1), divisor());
      case 14: return ir::alu(pick(2) ? ir::Op::Min : ir::Op::Max, {index(depth - 1), index(depth - 1)});
      default: return ir::where(condition(depth - 1), index(depth - 1), index(depth - 1));
    }
  }
  ir::UOp condition(int depth) {
    if (depth > 1 && pick(3) == 0) {
      ir::UOp a = condition(depth - 1), b = condition(depth - 1);
      switch (pick(4)) {
        case 0: return a | b;
        case 1: return ~a;
        default: return a & b;
      }
    }
    const ir::Op ops[] = {ir::Op::Lt, ir::Op::Lt, ir::Op::Le, ir::Op::Eq, ir::Op::Ne};
    ir::UOp right = pick(3) ? number(-6, 20) : index(depth > 0 ? depth - 1 : 0);
    return ir::alu(ops[pick(5)], {index(depth), right});
  }
  /// A point of the ranges.
  std::vector<ir::Scalar> point() {
    std::vector<ir::Scalar> p;
    for (ir::UOp r : ranges)
      p.push_back(ir::Scalar::of(DType::Index, pick(static_cast<int>(r->src[0]->scalar().as_int()))));
    return p;
  }

  std::vector<ir::UOp> ranges;

 private:
  ir::UOp divisor() {
    if (pick(24) == 0) return number(-5, 0);
    const int common[] = {2, 3, 4, 4, 6, 8, 12, 16, 5, 7};
    return ir::constant(g_, DType::Index, common[pick(10)]);
  }
  ir::UOp factor() { return pick(3) ? ir::constant(g_, DType::Index, 1 << pick(5)) : number(-7, 13); }

  ir::Graph& g_;
  std::mt19937& random_;
};

}  // namespace sinter::test

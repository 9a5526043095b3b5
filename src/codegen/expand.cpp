// Loops and statements; their values are values.cpp's.
#include "codegen/expand.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>

#include "codegen/values.h"
#include "sinter/error.h"
#include "uop/build.h"
#include "uop/mutant.h"
#include "uop/walk.h"

namespace sinter::codegen {
namespace {

using ir::AxisKind;
using ir::Combine;
using ir::Op;
using ir::UOp;
using What = Item::What;

/// The op of a combine; on bool a sum is an or, a product an and.
Op op_of(Combine combine, DType dtype) {
  const bool truth = is_bool(dtype);
  switch (combine) {
    case Combine::Add:
    case Combine::Dot: return truth ? Op::Or : Op::Add;
    case Combine::Mul: return truth ? Op::And : Op::Mul;
    case Combine::Max: return truth ? Op::Or : Op::Max;
    case Combine::Min: return truth ? Op::And : Op::Min;
  }
  throw InternalError("codegen: no such combine");
}

class Expander {
 public:
  Expander(const Kernel& kernel, const Statements& statements, Ranges& ranges)
      : kernel_(kernel),
        statements_(statements),
        ranges_(ranges),
        emit_(code_),
        values_(kernel, statements, ranges, emit_) {}

  Instructions run(const std::vector<Item>& tree) {
    code_.args = kernel_.args;
    code_.vars = static_cast<int>(kernel_.vars.size());
    code_.slots.resize(static_cast<size_t>(kernel_.params));
    for (UOp n : ir::topological(kernel_.sink)) {
      if (n->op == Op::Param) code_.slots.at(static_cast<size_t>(n->integer())).dtype = n->dtype;
      if (n->op == Op::Store) code_.slots.at(static_cast<size_t>(n->src[0]->integer())).written = true;
    }
    points_.push_back(
        {emit_.value({Code::Begin, {DType::Index, 1}, {}}), emit_.value({Code::End, {DType::Index, 1}, {}})});
    block(tree);
    return std::move(code_);
  }

 private:
  const Statement& at(int i) const { return statements_.list[static_cast<size_t>(i)]; }

  void block(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (item.what == What::Loop) {
        loop(item);
        continue;
      }
      const Statement& s = at(item.statement);
      values_.set_statement(s);
      for_each_copy(s.node, [&] {
        switch (item.what) {
          case What::Init: return init(item.statement);
          case What::Update: return update(item.statement);
          case What::Finish: return finish(item.statement);
          case What::Store: return store(s);
          case What::Loop: return;
        }
      });
    }
  }

  /// Runs `body` for each register copy of the unrolled ranges on which n depends.
  void for_each_copy(UOp n, const std::function<void()>& body) {
    std::vector<std::pair<UOp, int>> copy;
    std::vector<int> counts;
    for (const auto& [range, count] : unrolled_) {
      copy.emplace_back(range, 0);
      counts.push_back(ranges_.depends(n, range) ? count : 1);
    }
    while (true) {
      values_.set_copy(copy);
      body();
      size_t i = copy.size();
      while (i > 0 && ++copy[i - 1].second == counts[i - 1]) copy[--i].second = 0;
      if (i == 0) break;
    }
    values_.set_copy({});
  }

  // ---- loops
  struct Points {
    Id begin, end;
  };  ///< of the flattened points below the open outer loops: those that this launch covers

  void loop(const Item& item) {
    const Level& level = item.level;
    const UOp range = level.range;
    if (range_kind(range) == AxisKind::Outer) return outer_loop(item);
    const Id zero = emit_.number(0);
    Id end = values_.value(range->src[0]);
    if (level.turn >= 0) end = emit_.alu(Op::Where, {DType::Index, 1}, {turn(level.turn), end, zero});
    steps(item, zero, end);
  }

  /// [begin, end) in whole steps, then one by one.
  void steps(const Item& item, Id begin, Id end) {
    const int width = item.level.lanes * item.level.unroll;
    const std::function<void(Id)> body = [&](Id) { block(item.body); };
    if (width == 1) return one_loop(item.level, begin, end, 1, body);
    const Id rest = emit_.divide(Op::Mod, emit_.index(Op::Sub, end, begin), emit_.number(width));
    const Id main = emit_.index(Op::Sub, end, rest);
    const Id outside = tail_;
    tail_ = kNone;
    one_loop(item.level, begin, main, width, body);
    if (main == end) return void(tail_ = outside);
    spill(item);
    tail_ = main;
    if (ir::is_mutant(ir::Mutant::LostTail)) end = emit_.index(Op::Sub, end, emit_.number(1));
    one_loop(item.level, main, end, 1, body);
    tail_ = outside;
  }

  /// Before the tail of a reduction with lanes: accumulators go to memory, where one lane at a time is cheap to reach.
  void spill(const Item& loop) {
    for (const Item& item : loop.body)
      if (item.what == What::Update && chains(at(item.statement)) > 1)
        for_each_copy(at(item.statement).node, [&] {
          Id& acc = accumulator(item.statement);
          const Type type = emit_.type(acc);
          Inst memory{Code::Accumulator, type, {emit_.here({Code::Result, type, {acc}})}};
          memory.imm = 1;
          acc = emit_.here(std::move(memory));
        });
  }

  /// One loop with `step` elements at a time, unless it is known to be empty. `body` gets the loop's variable.
  void one_loop(const Level& level, Id begin, Id end, int step, const std::function<void(Id)>& body) {
    int64_t b = 0, e = 0;
    if (begin == end || (emit_.known(begin, b) && emit_.known(end, e) && b >= e)) return;
    const Id variable = emit_.open_loop(begin, end, step, note(level, step));
    values_.bind(level.range, variable, step > 1 ? level.lanes : 1);
    if (step > 1 && level.unroll > 1) unrolled_.emplace_back(level.range, level.unroll);
    body(variable);
    if (step > 1 && level.unroll > 1) unrolled_.pop_back();
    values_.unbind(level.range);
    emit_.close();
  }

  std::string note(const Level& level, int step) const {
    UOp bound = level.range->src[0];
    std::string size = bound->op == Op::Const ? fmt::format(" of {}", bound->scalar().as_int())
                       : bound->op == Op::Var ? " of " + bound->get<sinter::Var>().name()
                                              : "";
    std::string text = fmt::format("{} range {}{}", range_kind(level.range) == AxisKind::Outer ? "outer" : "inner",
                                   range_id(level.range), size);
    if (step > 1)
      text += fmt::format(", {} {}", step, level.lanes > 1 ? "lanes" : "copies");
    else if (level.lanes * level.unroll > 1)
      text += ", what no whole step covers";
    return text;
  }

  /// Points below one value of the outer range at `depth`.
  Id points_below(size_t depth) {
    Id size = emit_.number(1);
    for (size_t i = depth + 1; i < statements_.outer.size(); ++i)
      size = emit_.index(Op::Mul, size, values_.value(statements_.outer[i]->src[0]));
    return size;
  }

  /// The values of an outer range that the launch's points touch; the first and the last may be covered in part.
  void outer_loop(const Item& item) {
    const size_t depth = points_.size() - 1;
    const Points p = points_.back();
    if (depth + 1 == statements_.outer.size()) {
      points_.push_back({emit_.number(0), emit_.number(1)});
      steps(item, p.begin, p.end);
      points_.pop_back();
      return;
    }
    const Id size = points_below(depth);
    auto ceiling = [&](Id x) {
      return emit_.divide(Op::IDiv, emit_.index(Op::Add, x, emit_.index(Op::Sub, size, emit_.number(1))), size);
    };
    const Id begin = emit_.divide(Op::IDiv, p.begin, size), end = ceiling(p.end);
    auto part = [&](Id i) {
      const Id before = emit_.index(Op::Mul, i, size);
      points_.push_back({emit_.index(Op::Max, emit_.index(Op::Sub, p.begin, before), emit_.number(0)),
                         emit_.index(Op::Min, emit_.index(Op::Sub, p.end, before), size)});
      block(item.body);
      points_.pop_back();
    };
    const int width = item.level.unroll;
    if (width == 1) return one_loop(item.level, begin, end, 1, part);
    // Copies run side by side only where each is covered whole.
    const Id from = emit_.index(Op::Min, ceiling(p.begin), end);
    const Id whole = emit_.index(Op::Sub, emit_.index(Op::Max, emit_.divide(Op::IDiv, p.end, size), from), from);
    const Id to =
        emit_.index(Op::Add, from, emit_.index(Op::Sub, whole, emit_.divide(Op::Mod, whole, emit_.number(width))));
    one_loop(item.level, begin, from, 1, part);
    one_loop(item.level, from, to, width, [&](Id) {
      points_.push_back({emit_.number(0), size});
      block(item.body);
      points_.pop_back();
    });
    one_loop(item.level, to, end, 1, part);
  }

  // ---- turns of stores that lack an outer range
  Id turn(int number) {
    const Turn& turn = statements_.turns[static_cast<size_t>(number)];
    const Type boolean{DType::Bool, 1};
    Id ok = kNone;
    auto both = [&](Id x) { ok = ok == kNone ? x : emit_.alu(Op::And, boolean, {ok, x}); };
    for (UOp range : turn.zero) both(emit_.alu(Op::Eq, boolean, {values_.value(range), emit_.number(0)}));
    if (turn.first) {
      const Points p = points_.back();
      both(emit_.alu(Op::Eq, boolean, {p.begin, emit_.number(0)}));
      both(emit_.alu(Op::Lt, boolean, {p.begin, p.end}));
    }
    return ok;
  }

  // ---- statements
  /// The chains that a REDUCE runs in, if it has a loop.
  int chains(const Statement& s) const { return s.loops.size() > s.own ? s.node->reduction().tree.lanes : 1; }
  /// Chains that take one element at a time, because there is a vector inside.
  bool one_by_one(const Statement& s) const { return chains(s) > 1 && s.loops.back().lanes == 1; }
  Id& accumulator(int statement) { return accumulators_[{statement, values_.copies(at(statement).node)}]; }

  ir::Scalar first_value(int statement) const {
    const Combine combine = at(statement).node->reduction().combine;
    const DType dtype = at(statement).node->dtype;
    const bool second = !accumulators_.empty() && accumulators_.begin()->first.first != statement;
    if ((combine == Combine::Max && ir::is_mutant(ir::Mutant::MaxFromZero)) ||
        (combine == Combine::Min && ir::is_mutant(ir::Mutant::MinFromZero)) ||
        (combine == Combine::Mul && ir::is_mutant(ir::Mutant::ProductFromZero)))
      return ir::Scalar::of(dtype, 0);
    if (second && ir::is_mutant(ir::Mutant::SecondInitLost)) return ir::Scalar::of(dtype, 1);
    return ir::identity_of(combine, dtype);
  }

  void init(int statement) {
    const Statement& s = at(statement);
    const int lanes = chains(s) > 1 ? chains(s) : values_.varies(s.node) ? values_.lanes() : 1;
    const Id identity = emit_.splat(emit_.constant(s.node->dtype, first_value(statement)), lanes);
    Inst inst{Code::Accumulator, {s.node->dtype, lanes}, {identity}};
    inst.imm = lanes > 1 && one_by_one(s);
    accumulator(statement) = emit_.here(std::move(inst));
  }

  Id combined(const ir::ReduceAttr& attr, Type type, Id sum, const std::vector<Id>& values) {
    const Op op = op_of(attr.combine, type.dtype);
    if (attr.combine != Combine::Dot) return emit_.alu(op, type, {sum, values[0]});
    if (is_float(type.dtype)) return emit_.alu(Op::Fma, type, {values[0], values[1], sum});
    return emit_.alu(op, type, {sum, emit_.alu(op_of(Combine::Mul, type.dtype), type, values)});
  }

  void update(int statement) {
    const Statement& s = at(statement);
    const ir::ReduceAttr attr = s.node->reduction();
    const Id acc = accumulator(statement);
    Type type = emit_.type(acc);
    std::vector<Id> values;
    for (UOp v : values_of(s.node)) values.push_back(values_.value(v));
    if (chains(s) > 1 && (tail_ != kNone || one_by_one(s))) {
      // Element i goes to chain i % lanes: whole vectors came before a tail.
      const Id i = values_.value(s.loops.back().range);
      const Id lane =
          one_by_one(s) ? emit_.divide(Op::Mod, i, emit_.number(chains(s))) : emit_.index(Op::Sub, i, tail_);
      type.lanes = 1;
      const Id sum = emit_.here({Code::Lane, type, {acc, lane}});
      emit_.here({Code::Assign, {}, {acc, combined(attr, type, sum, values), lane}});
      return;
    }
    for (Id& v : values) v = emit_.splat(v, type.lanes);
    const Id sum = emit_.here({Code::Result, type, {acc}});
    emit_.here({Code::Assign, {}, {acc, combined(attr, type, sum, values)}});
  }

  void finish(int statement) {
    const Statement& s = at(statement);
    const Id acc = accumulator(statement);
    Id result = emit_.here({Code::Result, emit_.type(acc), {acc}});
    if (chains(s) > 1 && statements_.list.size() > 2 && ir::is_mutant(ir::Mutant::CombineInOrder)) {
      const Id all = result;
      result = emit_.lane(all, 0);
      for (int lane = 1; lane < chains(s); ++lane)
        result = emit_.alu(op_of(s.node->reduction().combine, s.node->dtype), {s.node->dtype, 1},
                           {result, emit_.lane(all, lane)});
    } else if (chains(s) > 1) {
      // Chains are halved, as Tree says.
      for (int lanes = chains(s) / 2; lanes > 0; lanes /= 2) {
        const Type half{s.node->dtype, lanes};
        auto part = [&](int which) {
          if (lanes == 1) return emit_.lane(result, which);
          Inst inst{Code::Half, half, {result}};
          inst.imm = which;
          return emit_.value(std::move(inst));
        };
        result = emit_.alu(op_of(s.node->reduction().combine, s.node->dtype), half, {part(0), part(1)});
      }
    }
    values_.finish(s.node, result);
  }

  void store(const Statement& s) {
    const bool guard = s.turn >= 0 && s.loops.size() == s.own;
    if (guard) emit_.open_if(turn(s.turn));
    const UOp n = s.node;
    const size_t rank = n->src[0]->rank();
    const UOp value = n->src[1 + rank], gate = n->src.size() > 2 + rank ? n->src[2 + rank] : UOp();
    const DType dtype = n->src[0]->dtype;
    auto element = [&](int lane, int lanes) {
      const Type type{dtype, lanes};
      const Id address = values_.address(n, lane), whole = values_.value(value);
      Id v = lanes > 1 ? emit_.splat(whole, lanes) : lane == kWhole ? whole : emit_.lane(whole, lane);
      if (gate) emit_.open_if(values_.value(gate, lane));
      auto access = [&](Code code, Type t, std::vector<Id> src) {
        Inst inst{code, t, std::move(src)};
        inst.imm = n->src[0]->integer();
        return emit_.here(std::move(inst));
      };
      if (n->integer() != 0 && !ir::is_mutant(ir::Mutant::ScatterAssigns))
        v = emit_.alu(op_of(Combine::Add, dtype), type, {access(Code::Load, type, {address}), v});
      access(Code::Store, {}, {address, v});
      if (gate) emit_.close();
    };
    const Values::Place place = values_.place(n);
    if (!values_.varies(n))
      element(kWhole, 1);
    else if (place.regular && place.stride == 1 && !(gate && values_.varies(gate)))
      element(0, values_.lanes());
    else
      for (int l = 0; l < values_.lanes(); ++l) element(l, 1);
    if (guard) emit_.close();
  }

  const Kernel& kernel_;
  const Statements& statements_;
  Ranges& ranges_;
  Instructions code_;
  Emitter emit_;
  Values values_;
  std::vector<Points> points_;
  std::vector<std::pair<UOp, int>> unrolled_;
  std::map<std::pair<int, uint64_t>, Id> accumulators_;
  Id tail_ = kNone;  ///< inside the tail of a loop with lanes: where it begins
};

}  // namespace

Instructions expand(const Kernel& kernel, const Statements& statements, const std::vector<Item>& tree, Ranges& ranges) {
  return Expander(kernel, statements, ranges).run(tree);
}

}  // namespace sinter::codegen

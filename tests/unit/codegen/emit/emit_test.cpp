// What becomes of conditions that are known, and how far a loop looks into its body.
#include "catch.h"
#include "codegen/cpu/cpu_passes.h"
#include "codegen/ssa/block_writer.h"
#include "runtime/base/target.h"

using namespace sinter;
using namespace sinter::codegen;
using Catch::Matchers::Contains;
using ir::Op;

namespace {

/// One buffer, which is written, and two sizes.
struct Program {
  Instructions code;
  BlockWriter emit;

  Program() : emit((code.slots = {{DType::F32, true}}, code.params = 1, code.vars = 2, code)) {}
  Id size(int64_t number) {
    Inst n{InstCode::Var, {DType::Index, 1}, {}};
    n.imm = number;
    return emit.value(std::move(n));
  }
  Id less(Id a, Id b) { return emit.alu(Op::Lt, {DType::Bool, 1}, {a, b}); }
  void store(Id at) {
    emit.insert_here({InstCode::Store, {}, {at, emit.constant(DType::F32, ir::Scalar::of(DType::F32, 1.0))}});
  }
  size_t effects(size_t block = 0) const {
    const std::vector<Id>& ids = code.blocks[block];
    return static_cast<size_t>(std::count_if(ids.begin(), ids.end(), [&](Id id) {
      return code[id].code == InstCode::If || code[id].code == InstCode::Store;
    }));
  }
};

}  // namespace

TEST_CASE("a branch that is never taken is not written", "[codegen][emit]") {
  Program p;
  const Id never = p.less(p.emit.number(2), p.emit.number(1)), some = p.less(p.size(0), p.size(1));
  REQUIRE(p.emit.never(never));
  p.emit.open_if(never);
  p.emit.open_if(some);
  p.store(p.emit.open_loop(p.emit.number(0), p.size(0), 1, ""));
  p.emit.close();
  p.emit.close();
  p.emit.close();
  CHECK(p.effects() == 0);
  CHECK(p.code.blocks.size() == 1);
  p.emit.open_if(p.emit.alu(Op::Not, {DType::Bool, 1}, {never}));  // always
  p.store(p.emit.number(0));
  p.emit.close();
  CHECK(p.effects() == 1);
  p.emit.open_if(some);
  p.store(p.emit.number(1));
  p.emit.close();
  CHECK(p.effects() == 2);
  CHECK(p.code.blocks.size() == 2);
  verify(p.code);
  CHECK_THAT(render_c(p.code, nullptr, "branches", runtime::reference_target()).text,
             !Contains("if (0)") && Contains("if ("));
}

TEST_CASE("arithmetic on indices in an if stands outside of the loop that does not change it", "[codegen][emit]") {
  Program p;
  const Id x = p.size(0), some = p.less(x, p.size(1));
  p.emit.open_if(some);
  const Id beside = p.emit.index(Op::Mul, x, p.emit.number(3));
  CHECK(p.emit.depth(beside) == 1);  // it leaves no loop, and only this branch wants it
  const Id turn = p.emit.open_loop(p.emit.number(0), x, 1, "");
  p.emit.open_if(p.less(turn, p.size(1)));
  const Id outside = p.emit.index(Op::Mul, x, p.emit.number(5)), inside = p.emit.index(Op::Mul, turn, p.emit.number(7));
  CHECK(p.emit.depth(outside) == 1);  // before the loop, and behind the first if
  CHECK(p.emit.depth(inside) == 3);
  CHECK(p.emit.depth(p.emit.number(5)) == 0);
  CHECK(p.emit.depth(p.emit.index(Op::Sub, p.emit.index(Op::Add, outside, x), p.emit.number(1))) == 1);
  // Vectors and other types stay, and what may trap or reads memory waits for the condition.
  CHECK(p.emit.depth(p.emit.alu(Op::Add, {DType::Index, 4}, {p.emit.splat(x, 4), p.emit.iota(4)})) == 3);
  CHECK(p.emit.depth(p.emit.alu(Op::Cast, {DType::I64, 1}, {x})) == 3);
  CHECK(p.emit.depth(p.emit.divide_unsigned(Op::IDiv, x, p.size(1))) == 3);
  Inst load{InstCode::Load, {DType::F32, 1}, {x}};
  CHECK(p.emit.depth(p.emit.value(std::move(load))) == 3);
  p.store(p.emit.index(Op::Add, outside, inside));
  p.emit.close();
  CHECK(p.emit.index(Op::Mul, x, p.emit.number(5)) == outside);  // known behind the if, too
  p.emit.open_if(p.emit.constant(DType::Bool, ir::Scalar::of(DType::Bool, false)));
  const Id kept = p.emit.index(Op::Mul, x, p.emit.number(11));
  p.emit.close();
  p.store(kept);  // the branch is gone, what has left it is not
  for (int blocks = 0; blocks < 2; ++blocks) p.emit.close();
  verify(p.code);
}

TEST_CASE("conditions that are known or the same are not joined", "[codegen][emit]") {
  Program p;
  const Id a = p.less(p.size(0), p.size(1)), b = p.less(p.size(0), p.emit.number(7));
  const Id never = p.emit.constant(DType::Bool, ir::Scalar::of(DType::Bool, false)),
           always = p.emit.alu(Op::Not, {DType::Bool, 1}, {never});
  CHECK(p.emit.both(a, a) == a);
  CHECK(p.emit.both(a, always) == a);
  CHECK(p.emit.both(never, a) == never);
  CHECK(p.emit.both(a, never) == never);
  CHECK(p.emit.both(kNone, a) == a);
  CHECK(p.emit.both(always, always) == kNone);
  const Id joined = p.emit.both(a, b);
  CHECK(p.emit[joined].op == Op::And);
}

TEST_CASE("lanes that count on are compared with a number by where they begin", "[codegen][emit]") {
  Program p;
  const Type mask{DType::Bool, 8}, places{DType::Index, 8};
  const auto from = [&](Id first) { return p.emit.alu(Op::Add, places, {p.emit.splat(first, 8), p.emit.iota(8)}); };
  const auto all = [&](Id number) { return p.emit.splat(number, 8); };
  const auto compare = [&](Op op, Id a, Id b) { return p.emit.alu(op, mask, {a, b}); };
  const Id x = p.size(0), n = p.size(1), left = p.emit.index(Op::Sub, n, x),
           next = p.emit.index(Op::Add, left, p.emit.number(1));
  CHECK(compare(Op::Lt, from(x), all(n)) == p.emit.below(left, 8));
  CHECK(compare(Op::Le, from(x), all(n)) == p.emit.below(next, 8));
  CHECK(compare(Op::Lt, all(n), from(x)) == p.emit.alu(Op::Not, mask, {p.emit.below(next, 8)}));
  CHECK(compare(Op::Le, all(n), from(x)) == p.emit.alu(Op::Not, mask, {p.emit.below(left, 8)}));
  const Id further = p.emit.alu(Op::Sub, places, {from(x), all(n)});
  CHECK(p.emit[compare(Op::Lt, further, all(x))].code == InstCode::Below);
  // Twice as fast, or the other way round: each lane for itself.
  const Id twice = p.emit.alu(Op::Add, places, {from(x), from(x)}),
           back = p.emit.alu(Op::Sub, places, {all(n), from(x)});
  CHECK(p.emit[compare(Op::Lt, twice, all(n))].code == InstCode::Alu);
  CHECK(p.emit[compare(Op::Lt, back, all(n))].code == InstCode::Alu);
  // Known of all lanes.
  CHECK(p.emit.always(compare(Op::Lt, from(p.emit.number(4)), all(p.emit.number(12)))));
  CHECK(p.emit.never(compare(Op::Lt, all(p.emit.number(11)), from(p.emit.number(4)))));
  CHECK_FALSE(p.emit.always(compare(Op::Lt, from(p.emit.number(4)), all(p.emit.number(11)))));
}

TEST_CASE("products run beside the two innermost loops, whether or not an if stands between them", "[codegen][emit]") {
  const bool between = GENERATE(false, true);
  Program p;
  std::vector<Id> loops;
  for (int i = 0; i < 3; ++i) {
    loops.push_back(p.emit.open_loop(p.emit.number(0), p.emit.number(8), 1, ""));
    p.emit.index(Op::Mul, loops[static_cast<size_t>(i)], p.emit.number(3 + i));
    if (i == 1 && between) p.emit.open_if(p.less(loops[1], p.size(0)));
  }
  p.store(p.emit.index(Op::Add, p.emit.index(Op::Mul, loops[0], p.emit.number(3)),
                       p.emit.index(Op::Add, p.emit.index(Op::Mul, loops[1], p.emit.number(4)),
                                    p.emit.index(Op::Mul, loops[2], p.emit.number(5)))));
  for (int i = 0; i < 3 + between; ++i) p.emit.close();
  verify(p.code);
  const std::string text = render_c(p.code, nullptr, "loops", runtime::reference_target()).text;
  CHECK_THAT(text, !Contains(" += 3,"));
  CHECK_THAT(text, Contains(" += 4,") && Contains(" += 5,"));
}

// Rewrites in one line each: what goes in, what comes out.
#include "catch.h"
#include "ir/build.h"
#include "ir/dump.h"
#include "ir_text/parse.h"
#include "rewrite/movement_index.h"
#include "rewrite/rewriter.h"
#include "rewrite/rules/rules.h"

using namespace sinter;
using namespace sinter::ir;

namespace {

struct Line {
  const char *from, *to;
};

void check(std::initializer_list<Line> lines) {
  for (const Line& l : lines) {
    INFO(l.from << " -> " << l.to);
    Arena g;
    Names names;
    UOp from = parse_expr(l.from, g, names), to = parse_expr(l.to, g, names);
    UOp result = rewrite(g, from, simplify_rules(), "test");
    CHECK(dump(result) == dump(to));
    CHECK(result == to);
  }
}

}  // namespace

TEST_CASE("quotients and remainders that make up their dividend", "[rewrite][expr]") {
  Arena g;
  Names names;
  const auto joined = [&](const char* text) {
    return dump(to_uop(g, merge_divmod(linear_of(parse_expr(text, g, names)))));
  };
  const auto plain = [&](const char* text) { return dump(to_uop(g, linear_of(parse_expr(text, g, names)))); };
  const Line lines[] = {
      {"(Add (Mul (IDiv x:100 7) 7) (Mod x 7))", "x"},
      {"(Add (Mul (IDiv x 7) 21) (Mul (Mod x 7) 3))", "(Mul x 3)"},
      {"(Add (Add (Mul (IDiv x 15) 15) (Mul (Mod (IDiv x 5) 3) 5)) (Mod x 5))", "x"},
      {"(Add (Mul (IDiv (Add x y:9) 7) 7) (Mod (Add x y) 7))", "(Add x y)"},
      {"(Add (Mul (IDiv x 7) 8) (Mod x 7))", "(Add (Mul (IDiv x 7) 8) (Mod x 7))"},
      {"(Add (Mul (IDiv y 7) 7) (Mod x 7))", "(Add (Mul (IDiv y 7) 7) (Mod x 7))"},
      {"(Add (Mul (IDiv x 16) 15) (Mul (Mod (IDiv x 5) 3) 5))",
       "(Add (Mul (IDiv x 16) 15) (Mul (Mod (IDiv x 5) 3) 5))"},
  };
  for (const Line& l : lines) {
    INFO(l.from);
    const std::string made = joined(l.from);
    CHECK(made == plain(l.to));
  }
}

TEST_CASE("division and modulo of sums", "[rewrite][expr]") {
  check({
      {"(IDiv (Add (Mul a:5 4) b:4) 4)", "a"},
      {"(Mod (Add (Mul a:5 4) b:4) 4)", "b"},
      {"(Mod (Add (Mul a:5 4) b:9) 4)", "(Mod b 4)"},
      {"(IDiv (Add (Mul a:5 4) b:9) 4)", "(Add a (IDiv b 4))"},
      {"(IDiv (Add (Mul a:50 4) b:4) 12)", "(IDiv a 3)"},
      {"(Mod (Add (Mul a:50 4) b:4) 12)", "(Add b (Mul (Mod a 3) 4))"},
      {"(IDiv (IDiv x:100 4) 5)", "(IDiv x 20)"},
      {"(IDiv (Add (IDiv x:100 4) y:9) 5)", "(IDiv (Add x (Mul y 4)) 20)"},
      {"(Mod (Mod x:100 12) 4)", "(Mod x 4)"},
      {"(Mod (Mod x:100 4) 12)", "(Mod x 4)"},
      {"(IDiv (Mod x:100 12) 4)", "(Mod (IDiv x 4) 3)"},
      {"(Add (Mul (IDiv x:100 4) 4) (Mod x 4))", "x"},
      {"(Add (Mul (IDiv x:100 12) 3) (Mod (IDiv x 4) 3))", "(IDiv x 4)"},
      {"(Add (Mod x:100 4) (Mul (Mod (IDiv x 4) 3) 4))", "(Mod x 12)"},
      {"(Sub x:100 (Mod x 4))", "(Mul (IDiv x 4) 4)"},
      {"(IDiv (Sub a:5 5) 4)", "(Add (IDiv (Add a 3) 4) -2)"},
      {"(IDiv (Sub 11 x:12) 4)", "(IDiv (Add (Neg x) 11) 4)"},
      {"(Mod (Mul a:50 7) 6)", "(Mod a 6)"},
      {"(Mod (Sub (Mul a:3 5) 5) 6)", "(Mod (Add (Mul a 5) 1) 6)"},
      {"(IDiv (Add p:2 1) 2)", "p"},
      {"(Mod (Add p:2 1) 2)", "(Add (Neg p) 1)"},
      {"(Mod (Mul p:2 5) 3)", "(Mul p 2)"},
      {"(IDiv (Add (Mul a:5 3) (Add p:2 2)) 3)", "(Add a p)"},
      {"(Mod (Mul (Add p:2 1) 2) 12)", "(Add (Mul p 2) 2)"},
      {"(IDiv (Add t:3 1) 2)", "(IDiv (Add t 1) 2)"},
      {"(IDiv x:9 0)", "0:index"},
      {"(Mod x:9 -1)", "0:index"},
      {"(IDiv x:9 -1)", "(Neg x)"},
      {"(IDiv x:9 9)", "0:index"},
  });
}

TEST_CASE("conditions on indices", "[rewrite][expr]") {
  check({
      {"(Lt x:9 9)", "true"},
      {"(Lt x:9 0)", "false"},
      {"(Lt (Add (Mul a:5 4) b:4) 8)", "(Lt a 2)"},
      {"(Lt (Add (Mul a:5 4) b:4) 9)", "(Lt (Add b (Mul a 4)) 9)"},
      {"(Lt (Mul a:9 4) 9)", "(Lt a 3)"},
      {"(Lt (IDiv x:50 4) 3)", "(Lt x 12)"},
      {"(Le 3 (IDiv x:50 4))", "(Le 12 x)"},
      {"(Lt (Sub 7 x:50) 3)", "(Le 5 x)"},
      {"(Not (Lt x:50 3))", "(Le 3 x)"},
      {"(Eq (Mul a:9 4) 6)", "false"},
      {"(Eq (Mul a:9 4) 8)", "(Eq a 2)"},
      {"(Ne (Add a:9 3) (Add a 4))", "true"},
      {"(And (Lt x:50 3) (Lt x 4))", "(Lt x 3)"},
      {"(And (Lt x:50 2) (Le 2 x))", "false"},
      {"(And (Lt (Add x:9 y:9) 5) (Lt x 5))", "(Lt (Add x y) 5)"},
      {"(Where (Lt x:50 3) (Mod x 3) 7)", "(Where (Lt x 3) x 7)"},
      {"(Where (Lt x:50 3) 7 (Max x 3))", "(Where (Lt x 3) 7 x)"},
      {"(Max x:9 -1)", "x"},
      {"(Min (Add x:9 y:9) (Add x 20))", "(Add x y)"},
      {"(Cast:index (Add (Mul (Cast:i64 a:9) 3) 1))", "(Add (Mul a 3) 1)"},
      {"(Lt (Cast:i64 a:9) 3)", "(Lt a 3)"},
      {"(Lt (And x:i32 15) 16)", "true"},
  });
}

TEST_CASE("floats change only where nothing is lost", "[rewrite][expr]") {
  check({
      {"(Add (Mul x:f32 1) -0.0)", "x"},
      {"(Add x:f32 0)", "(Add x 0)"},
      {"(Mul x:f32 0)", "(Mul x 0)"},
      {"(Sub x:f32 x)", "(Sub x x)"},
      {"(Div x:f32 8)", "(Mul x 0.125)"},
      {"(Div x:f32 3)", "(Div x 3)"},
      {"(Lt x:f32 x)", "false"},
      {"(Eq x:f32 x)", "(Eq x x)"},
      {"(Not (Lt x:f32 y:f32))", "(Not (Lt x y))"},
      {"(Add (Mul 2:f32 3) x:f32)", "(Add x 6)"},
      {"(Max (Max x:f32 0) 0)", "(Max x 0)"},
      {"(Where c:bool (Where c x:f32 y:f32) y)", "(Where c x y)"},
      {"(Where (Not c:bool) x:f32 y:f32)", "(Where c y x)"},
      {"(Cast:f32 (Cast:f64 x:f32))", "x"},
      {"(Cast:i8 (Cast:f64 x:i32))", "(Cast:i8 (Cast:f64 x))"},
      {"(Cast:i8 (Cast:i64 x:i32))", "(Cast:i8 x)"},
      {"(Exp (Log 1:f32))", "1:f32"},
  });
}

TEST_CASE("views of symbolic sizes and dynamic offsets", "[rewrite][views]") {
  Arena g;
  Var batch("batch", 1, 64);
  const Dim b = batch(7);
  UOp v = variable(g, batch, DType::Index);
  UOp i = range(v, 0, AxisKind::Outer), j = range(constant(g, DType::Index, 12), 1, AxisKind::Outer);
  IndexMath m(g);
  // Dims that agree keep their index, whatever the variable.
  UOp x = param(g, 0, DType::F32, {b, 3, 4});
  ElementIndex at = source_index(g, reshape(x, {b, 12}), {{i, j}, {}});
  CHECK(at.index == std::vector<UOp>{i, m.div(j, m.constant(4)), m.mod(j, m.constant(4))});
  // A range bounded by the variable is a remainder of it.
  UOp flat = m.add(m.mul(j, v), i);
  CHECK(m.div(flat, v) == j);
  CHECK(m.mod(flat, v) == i);
  CHECK(m.lt(i, v) == constant(g, DType::Bool, 1));
  // Padded on the fixed axis only: the symbolic one is whole and has no gate.
  ElementIndex padded =
      source_index(g, pad(x, {{0, b}, {1, 4}, {0, 4}}, {b, 5, 4}), {{i, m.mod(j, m.constant(5)), m.constant(0)}, {}});
  CHECK(padded.index[0] == i);
  CHECK(padded.valid);
  // A dynamic begin is added, and gates a pad on both sides.
  UOp begin = argument(g, 0, DType::Index);
  UOp y = param(g, 1, DType::F32, {100});
  UOp cut = g.make({Op::Shrink, DType::F32, {12}, {y, begin}, Region{{0, 12}}});
  CHECK(source_index(g, cut, {{j}, {}}).index[0] == m.add(j, begin));
  UOp put = g.make({Op::Pad, DType::F32, {100}, {param(g, 2, DType::F32, {12}), begin}, Region{{0, 12}}});
  ElementIndex inside = source_index(g, put, {{j}, {}});
  CHECK(inside.index[0] == m.sub(j, begin));
  CHECK(inside.valid == m.conjoin(m.le(begin, j), m.lt(j, m.add(begin, m.constant(12)))));
  CHECK(source_index(g, expand(y, {3, 100}, {0}), {{begin, j}, {}}).index == std::vector<UOp>{j});
}

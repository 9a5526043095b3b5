// Graphs as text and back, and the errors of damaged texts.
#include <cmath>
#include <limits>
#include <random>

#include "catch.h"
#include "ir/build.h"
#include "ir/dump.h"
#include "ir/walk.h"
#include "ir_text/parse.h"
#include "sinter/error.h"

using namespace sinter;
using namespace sinter::ir;

namespace {

/// A graph with every kind of attribute, random sharing and random values.
std::vector<UOp> random_graph(Graph& g, std::mt19937& random) {
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const double specials[] = {0.0,
                             -0.0,
                             std::nan(""),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::infinity(),
                             0.1,
                             1e300,
                             5e-324,
                             -3.0,
                             std::bit_cast<double>(uint64_t{0x7ff8000000000123})};
  Var batch("batch \"x\\y\"\n", 1, 256);
  const Dim b = batch(1 + pick(256));
  const Shape shapes[] = {{}, {4}, {2, 3}, {b, 4}, {1, 2, 3}};
  const DType types[] = {DType::F32, DType::F64, DType::I32, DType::U64, DType::Bool, DType::Index};
  const Device device = pick(3) ? Device::cpu() : Device(Device::Kind::Cuda, pick(4));
  std::vector<UOp> nodes{constant(g, DType::F32, 1.0, device)};
  auto any = [&] { return nodes[static_cast<size_t>(pick(static_cast<int>(nodes.size())))]; };
  for (int i = 0; i < 25; ++i) {
    const Shape shape = shapes[pick(5)];
    const DType dtype = types[pick(6)];
    auto make = [&](Op op, Attr attr, std::vector<UOp> src = {}) {
      nodes.push_back(g.make({op, dtype, shape, std::move(src), std::move(attr), device}));
    };
    switch (pick(15)) {
      case 0: nodes.push_back(constant(g, Scalar::of(DType::F64, specials[pick(10)]), DType::F64, device)); break;
      case 1: nodes.push_back(constant(g, Scalar::of(DType::F32, specials[pick(7)]), DType::F32, device)); break;
      case 2:
        nodes.push_back(
            constant(g, Scalar::of(DType::I64, std::numeric_limits<int64_t>::min() + pick(3)), DType::I64, device));
        break;
      case 3: make(Op::Param, int64_t{pick(9)} - 3); break;
      case 4: make(Op::Permute, pick(2) ? Ints{1, -2, 3} : Ints{}, {any()}); break;
      case 5: make(Op::Pad, pick(3) ? Region{{0, b}, {1, 3}} : Region{}, {any(), any()}); break;
      case 6:
        make(Op::Reduce, ReduceAttr{static_cast<Combine>(pick(5)), {0, 2}, {1 << pick(4), pick(2) * 128}}, {any()});
        break;
      case 7: make(Op::Range, RangeAttr{pick(9), static_cast<AxisKind>(pick(2))}, {any()}); break;
      case 8: make(Op::Data, {}); break;
      case 9:
        make(Op::Num, pick(2) ? Scalar::of(DType::F32, specials[pick(8)]) : Scalar::of(DType::I64, -pick(99)));
        break;
      case 10: make(Op::Var, batch); break;
      case 12: make(Op::Window, WindowAttr{pick(4), pick(9) - 4}, {any()}); break;
      case 11: make(Op::Copy, {}, {any()}); break;
      default: make(pick(2) ? Op::Add : Op::Sub, {}, {any(), any()}); break;
    }
  }
  std::vector<UOp> roots{nodes.back()};
  while (pick(3)) roots.push_back(any());
  return roots;
}

std::string error_of(const std::string& text) {
  Arena g;
  try {
    parse(text, g);
  } catch (const UsageError& e) { return e.what(); }
  return "no error";
}

}  // namespace

TEST_CASE("a dump parses back to the same graph", "[rewrite][parse]") {
  std::mt19937 random(3);
  for (int n = 0; n < 1500; ++n) {
    Arena g, other;
    std::vector<UOp> roots = random_graph(g, random);
    const std::string text = dump(roots);
    std::vector<UOp> back = parse(text, other);
    REQUIRE(dump(back) == text);
    // Into the graph itself: the very nodes.
    REQUIRE(parse(text, g) == roots);
  }
}

TEST_CASE("the form of a dump", "[rewrite][parse]") {
  Arena g;
  UOp x = param(g, 0, DType::F32, {2, 3});
  UOp r = g.make({Op::Reduce, DType::F32, {2}, {x + x}, ReduceAttr{Combine::Add, {1}, {4, 0}}});
  CHECK(dump(r) ==
        "sinter-ir 1\n"
        "%0 = Param float32 [2, 3] {0}\n"
        "%1 = Add float32 [2, 3] (%0, %0)\n"
        "%2 = Reduce float32 [2] (%1) {Add axes [1] lanes 4 block 0}\n");
  CHECK(dump(std::vector<UOp>{r, x}).ends_with("roots %2, %0\n"));
  CHECK(describe(r) == "Reduce float32 [2] {Add axes [1] lanes 4 block 0}");
}

TEST_CASE("a damaged dump is a UsageError with its line", "[rewrite][parse]") {
  using Catch::Contains;
  const std::string head = "sinter-ir 1\n%0 = Param float32 [2] {0}\n";
  CHECK_THAT(error_of(""), Contains("empty"));
  CHECK_THAT(error_of("sinter-ir 2\n"), Contains("line 1") && Contains("sinter-ir 2"));
  CHECK_THAT(error_of(head + "%1 = Plus float32 [2] (%0, %0)\n"), Contains("line 3") && Contains("\"Plus\""));
  CHECK_THAT(error_of(head + "%1 = Add float99 [2] (%0, %0)\n"), Contains("line 3") && Contains("float99"));
  CHECK_THAT(error_of(head + "%1 = Add float32 [2] (%0, %1)\n"), Contains("%1 is not defined"));
  CHECK_THAT(error_of(head + "%2 = Add float32 [2] (%0, %0)\n"), Contains("expected node %1"));
  CHECK_THAT(error_of(head + "%1 = Add float32 [2 (%0, %0)\n"), Contains("line 3"));
  CHECK_THAT(error_of(head + "%1 = Add float32 [2] (%0, %0\n"), Contains("line 3"));
  CHECK_THAT(error_of(head + "%1 = Const float32 [] {= 1.x}\n"), Contains("1.x"));
  CHECK_THAT(error_of(head + "%1 = Range index [] (%0) {Middle 1}\n"), Contains("line 3"));
  CHECK_THAT(error_of(head + "%1 = Neg float32 [2] (%0) extra\n"), Contains("end of the line"));
  CHECK_THAT(error_of(head + "%1 = Param float32 [\"b] {0}\n"), Contains("without an end"));
  CHECK_THAT(error_of(head + "%1 = Param float32 [\"b\"=9 in 1..4] {0}\n"), Contains("9"));
  CHECK_THAT(error_of(head + "roots %0\n%1 = Neg float32 [2] (%0)\n"), Contains("nothing follows"));
  Arena g;
  CHECK_THROWS_AS(parse_one(head + "roots %0, %0\n", g), UsageError);
}

TEST_CASE("expressions in one line", "[rewrite][parse]") {
  Arena g;
  Names names;
  UOp e = parse_expr("(Add (Mul x:f32 1) -0.0)", g, names);
  UOp x = names.at("x");
  CHECK(e == x * 1.0 + -0.0);
  CHECK(parse_expr("x", g, names) == x);
  CHECK(parse_expr("(Cast:i64 x)", g, names) == cast(x, DType::I64));
  CHECK(parse_expr("(Where (Lt x 0) inf x)", g, names) ==
        where(lt(x, like(x, 0.0)), like(x, std::numeric_limits<double>::infinity()), x));
  CHECK(parse_expr("(IDiv i:12 4)", g, names)->src[0]->op == Op::Range);
  CHECK(parse_expr("-7:i32", g, names) == constant(g, DType::I32, -7));
  CHECK(parse_expr("(Or p:bool true)", g, names)->dtype == DType::Bool);
  for (const char* bad : {"", "(Add x", "(Add x 1))", "(Plus x 1)", "(Add 1 2)", "y", "(Add x i)", "x:f32", "(Mod x 2)",
                          "z:f31", "3", "(Sink x)"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_expr(bad, g, names), UsageError);
  }
}

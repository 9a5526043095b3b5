// The driver, the rules one by one on random leaves, and what a table of rules must refuse.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "catch.h"
#include "index_oracle.h"
#include "ir/dump.h"
#include "ir/walk.h"
#include "rewrite/rewriter.h"
#include "rewrite/rules/rules.h"
#include "rewrite/trace.h"
#include "sinter/error.h"

using namespace sinter;
using namespace sinter::ir;

namespace {

/// Counts events while it lives.
struct Fired {
  std::map<std::string, int> count;
  Fired() {
    set_rewrite_sink([this](const RewriteEvent& e) { ++count[e.rule]; });
  }
  ~Fired() { set_rewrite_sink(nullptr); }
};

Scalar random_number(DType dtype, std::mt19937& random) {
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (is_float(dtype)) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const double special[] = {0.0, -0.0, inf, -inf, std::nan(""), 1.0, -1.0, 2.0, 0.5, -8.0, 1e-310, 1e300};
    if (pick(2)) return Scalar::of(dtype, special[pick(12)]);
    return Scalar::of(dtype, std::ldexp(static_cast<double>(random()) / 4294967296.0 - 0.5, pick(60) - 30));
  }
  if (dtype == DType::Bool) return Scalar::of(dtype, pick(2));
  // Index must not overflow; the others must wrap rightly.
  if (dtype == DType::Index) return Scalar::of(dtype, pick(2001) - 1000);
  if (pick(3)) return Scalar::of(dtype, pick(21) - 10);
  return Scalar::of(dtype, static_cast<int64_t>(static_cast<uint64_t>(random()) << 32 | random()));
}

bool same(Scalar a, Scalar b) {
  return a == b || (a.floating() && std::isnan(a.as_double()) && std::isnan(b.as_double()));
}

/// The left side of a rule on fresh leaves.
struct Instance {
  UOp root;
  std::vector<UOp> leaves;
};

class LeftSide {
 public:
  LeftSide(Graph& g, const Pattern& p, DType dtype, std::mt19937& random)
      : g_(g), pattern_(p), dtype_(dtype), random_(random) {}
  Instance build() {
    next_ = 0;
    Instance result;
    result.root = node(root_type());
    for (UOp s : slots_)
      if (s && s->op == Op::Arg) result.leaves.push_back(s);
    return result;
  }

 private:
  /// Comparisons, and what stands around them, are bool over numbers.
  DType root_type() {
    for (int i = 0; i < pattern_.size; ++i) {
      const PatternNode n = pattern_.at(i);
      if (n.kind != PatternNode::Operation) break;
      if (info(n.op).result == ResultType::Bool) return DType::Bool;
    }
    return dtype_;
  }
  UOp node(DType dtype) {
    const PatternNode p = pattern_.at(next_++);
    if (p.kind == PatternNode::Literal) {
      Scalar v = is_float(dtype) ? Scalar::of(dtype, p.number) : Scalar::of(dtype, static_cast<int64_t>(p.number));
      return constant(g_, v, dtype);
    }
    if (p.kind == PatternNode::Operation) {
      std::vector<UOp> src;
      for (int i = 0; i < info(p.op).arity; ++i) {
        const bool condition = p.op == Op::Where && i == 0;
        src.push_back(node(condition ? DType::Bool : info(p.op).result == ResultType::Bool ? dtype_ : dtype));
      }
      return alu(p.op, src);
    }
    UOp& leaf = slots_[p.slot];
    if (!leaf) {
      Scalar v = random_number(dtype, random_);
      if (p.kind == PatternNode::Constant && random_() % 2)
        v = Scalar::of(dtype, std::ldexp(random_() % 2 ? 1 : -1, static_cast<int>(random_() % 16) - 8));
      leaf = p.kind == PatternNode::Constant ? constant(g_, v, dtype) : argument(g_, p.slot, dtype);
    }
    return leaf;
  }

  Graph& g_;
  const Pattern& pattern_;
  DType dtype_;
  std::mt19937& random_;
  std::array<UOp, Pattern::kSlots> slots_{};
  int next_ = 0;
};

constexpr DType kTypes[] = {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I8,  DType::I16,  DType::I32,
                            DType::I64, DType::U8,   DType::U16, DType::U32, DType::U64, DType::Bool, DType::Index};
constexpr int kTypeCount = static_cast<int>(std::size(kTypes));

}  // namespace

TEST_CASE("every rule keeps the value on random leaves of every type in its domain", "[rewrite][rules]") {
  const RuleSet all = algebra_rules() + boolean_rules() + float_rules();
  std::mt19937 random(7);
  for (const Rule* rule : all.rules()) {
    const RuleSet one{std::span<const Rule>(rule, 1)};
    int fired = 0;
    for (int round = 0; round < 60 || (fired < 400 && round < 4000); ++round)
      for (DType dtype : kTypes) {
        if (!contains(rule->domain, dtype)) continue;
        Arena g;
        UOp before;
        std::vector<UOp> leaves;
        try {
          Instance i = LeftSide(g, rule->left, dtype, random).build();
          before = i.root, leaves = i.leaves;
        } catch (const InternalError&) {
          continue;  // this op has no meaning on this type
        }
        UOp after = rewrite(g, before, one, "test");
        if (after == before) continue;
        ++fired;
        test::Oracle oracle({before, after});
        for (int p = 0; p < 4; ++p) {
          std::vector<Scalar> point;
          for (UOp l : leaves) point.push_back(random_number(l->dtype, random));
          auto v = oracle.at(leaves, point);
          if (!same(v[0], v[1]))
            FAIL(fmt::format("{} ({}:{}): {} became {}\n{}{}", rule->name, rule->where.file_name(), rule->where.line(),
                             dump(v[0]), dump(v[1]), dump(before), dump(after)));
        }
      }
    INFO(rule->name);
    CHECK(fired >= 100);
  }
}

TEST_CASE("structural rules keep the value of random expressions of all types", "[rewrite][rules]") {
  std::mt19937 random(11);
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Fired fired;
  for (int n = 0; n < 30000; ++n) {
    Arena g;
    std::vector<UOp> leaves, values;
    for (int i = 0; i < 6; ++i) leaves.push_back(argument(g, i, kTypes[pick(kTypeCount)]));
    values = leaves;
    for (int i = 0; i < 10; ++i) {
      UOp a = values[static_cast<size_t>(pick(static_cast<int>(values.size())))];
      auto other = [&](DType dtype) -> UOp {
        for (int k = 0; k < 6; ++k)
          if (UOp b = values[static_cast<size_t>(pick(static_cast<int>(values.size())))]; b->dtype == dtype) return b;
        return constant(g, random_number(dtype, random), dtype);
      };
      UOp made;
      switch (pick(10)) {
        case 0: made = cast(a, kTypes[pick(kTypeCount)]); break;
        case 1: made = where(other(DType::Bool), a, other(a->dtype)); break;
        case 2: made = constant(g, random_number(a->dtype, random), a->dtype); break;
        case 3: {
          const bool wide = size_of(a->dtype) == 8 && a->dtype != DType::Index;
          if (wide) made = bitcast(bitcast(a, pick(2) ? DType::F64 : DType::U64), DType::I64);
          if (size_of(a->dtype) == 4) made = bitcast(a, DType::F32);
          break;
        }
        case 4:
          made = cast(where(other(DType::Bool), constant(g, random_number(a->dtype, random), a->dtype), like(a, 1.0)),
                      kTypes[pick(kTypeCount)]);
          break;
        case 5: made = g.make({Op::Check, a->dtype, {}, {a, constant(g, DType::Bool, pick(2))}, int64_t{1}}); break;
        case 6:
          made = g.make({Op::Check, DType::Bool, {}, {other(DType::Bool), constant(g, DType::Bool, 0)}, int64_t{1}}) &
                 constant(g, DType::Bool, 0);
          break;
        default: {
          const Op ops[] = {Op::Add, Op::Sub,  Op::Mul, Op::Max, Op::Min,   Op::Lt,  Op::Le,  Op::Eq,
                            Op::Ne,  Op::IDiv, Op::Mod, Op::And, Op::Or,    Op::Xor, Op::Shl, Op::Shr,
                            Op::Div, Op::Neg,  Op::Abs, Op::Not, Op::Floor, Op::Sqrt};
          Op o = ops[pick(22)];
          std::vector<UOp> src;
          for (int k = 0; k < info(o).arity; ++k) src.push_back(k ? other(a->dtype) : a);
          try {
            made = alu(o, src);
          } catch (const InternalError&) {}
        }
      }
      if (made) values.push_back(made);
    }
    UOp before = values.back(), after = rewrite(g, before, simplify_rules(), "test");
    test::Oracle oracle({before, after});
    for (int p = 0; p < 3; ++p) {
      std::vector<Scalar> point;
      for (UOp l : leaves)
        point.push_back(l->dtype == DType::Index ? Scalar::of(DType::Index, pick(99) - 49)
                                                 : random_number(l->dtype, random));
      auto v = oracle.at(leaves, point);
      if (!same(v[0], v[1])) FAIL(fmt::format("{} became {}\n{}{}", dump(v[0]), dump(v[1]), dump(before), dump(after)));
    }
  }
  for (const StructuralRule& s : fold_rules().structural_rules()) {
    INFO(s.name);
    CHECK(fired.count[s.name] >= 100);
  }
}

TEST_CASE("a conjunction that never holds keeps its checks", "[rewrite][rules]") {
  Arena g;
  const UOp x = argument(g, 0, DType::Bool), y = argument(g, 1, DType::Bool), i = argument(g, 2, DType::Index);
  const UOp none = constant(g, DType::Bool, 0), low = lt(i, constant(g, DType::Index, 3)),
            high = lt(constant(g, DType::Index, 5), i);
  const auto check = [&](UOp ok, UOp raise) { return g.make({Op::Check, DType::Bool, {}, {ok, raise}, int64_t{1}}); };
  const UOp one = check(x, y), other = check(y, x);
  IndexMath math(g);
  for (UOp never : {one & none, none & one, (one & x) & none, (x & alu(Op::Not, {x})) & one, (one & other) & none,
                    math.conjoin(math.conjoin(low, high), one), math.conjoin(math.conjoin(low, one), high)}) {
    INFO(dump(never));
    const UOp after = rewrite(g, never, simplify_rules(), "test");
    int checks = 0;
    for (UOp part : conjuncts(after)) {
      REQUIRE(part->op == Op::Check);
      CHECK(part->src[0] == none);
      CHECK((part->src[1] == x || part->src[1] == y));
      ++checks;
    }
    const std::vector<UOp> parts = topological(never);
    CHECK(checks == std::count_if(parts.begin(), parts.end(), [](UOp n) { return n->op == Op::Check; }));
  }
}

TEST_CASE("rules that go round in circles are named", "[rewrite][rules]") {
  using namespace sinter::ir::pattern;
  constexpr Pattern x = any(0), y = any(1);
  static constexpr Rule kCircle[] = {
      {"there", x - y, x + (-y), Domain::Any},
      {"and-back", x + (-y), x - y, Domain::Any},
  };
  static constexpr Rule kGrowing[] = {{"grows", abs(x), abs(abs(-x)), Domain::Any}};
  Arena g;
  UOp a = argument(g, 0, DType::F32), b = argument(g, 1, DType::F32);
  CHECK_THROWS_WITH(rewrite(g, a - b, RuleSet{kCircle}, "circling"), Catch::Contains("circling") &&
                                                                         Catch::Contains("there, and-back") &&
                                                                         Catch::Contains("sinter-ir 1"));
  CHECK_THROWS_AS(rewrite(g, alu(Op::Abs, {a}), RuleSet{kGrowing}, "growing"), InternalError);
}

TEST_CASE("the driver reports each firing and counts its runs", "[rewrite][rules]") {
  Arena g;
  UOp x = argument(g, 0, DType::I32);
  std::vector<std::string> lines;
  set_rewrite_sink([&](const RewriteEvent& e) {
    lines.push_back(fmt::format("{} {} {} -> {}", e.pass, e.rule, describe(e.before), describe(e.after)));
    CHECK(std::string(e.where.file_name()).find("algebra.cpp") != std::string::npos);
  });
  const size_t runs = rewrite_runs();
  UOp y = rewrite(g, (x + 0.0) * 1.0, simplify_rules(), "probe");
  set_rewrite_sink(nullptr);
  CHECK(y == x);
  CHECK(rewrite_runs() == runs + 1);
  CHECK(lines == std::vector<std::string>{"probe add-zero Add int32 [] -> Arg int32 [] {0}",
                                          "probe mul-one Mul int32 [] -> Arg int32 [] {0}"});
}

TEST_CASE("constants that fill a shape are constants", "[rewrite][rules]") {
  Arena g;
  UOp x = param(g, 0, DType::F32, {2, 3});
  CHECK(rewrite(g, x * 1.0, simplify_rules(), "test") == x);
  CHECK(rewrite(g, like(x, 2.0) * like(x, 3.0), simplify_rules(), "test") == like(x, 6.0));
  CHECK(rewrite(g, where(lt(x, x), x, x * 1.0), simplify_rules(), "test") == x);
}

TEST_CASE("a choice by the gate of a load is the load's own", "[rewrite][rules]") {
  Arena g;
  const auto index = [&](int64_t n) { return constant(g, DType::Index, n); };
  UOp p = param(g, 0, DType::F32, {40}), i = range(index(50), 0, AxisKind::Outer),
      j = range(index(9), 1, AxisKind::Outer), at[] = {i};
  UOp in = lt(i, index(40)), some = lt(j, index(4)), zero = constant(g, DType::F32, 0.0),
      low = constant(g, DType::F32, -1e30);
  UOp loaded = load(p, at, in, zero), both = load(p, at, in & some, zero);
  const auto simple = [&](UOp x) { return rewrite(g, x, simplify_rules(), "test"); };
  CHECK(simple(where(in, loaded, low)) == load(p, at, in, low));
  CHECK(simple(where(in & some, both, low)) == simple(load(p, at, in & some, low)));
  CHECK(simple(where(in, both, zero)) == simple(both));
  for (UOp x : {where(some, loaded, low), where(in, both, low), where(in, loaded, argument(g, 0, DType::F32))})
    CHECK(simple(x)->op == Op::Where);
}

TEST_CASE("a chain of 200,000 nodes is rewritten without recursion", "[rewrite][rules]") {
  Arena g;
  UOp x = argument(g, 0, DType::F32), sum = x;
  for (int i = 0; i < 200000; ++i) sum = i % 2 ? sum + x : sum * 1.0;
  UOp simple = rewrite(g, sum, float_rules(), "test");
  CHECK(topological(simple).size() == 100001);
}

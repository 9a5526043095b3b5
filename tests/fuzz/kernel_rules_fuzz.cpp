// Random kernels with gated loads and stores, index arithmetic and integer arithmetic on indices: after all rules the
// same stores happen at the same places with the same values, and every structural rule has had its say.
#include <fmt/core.h>

#include <map>
#include <string>

#include "catch.h"
#include "index_oracle.h"
#include "ir/dump.h"
#include "ir/verify.h"
#include "rewrite/rewriter.h"
#include "rewrite/rules/rules.h"
#include "rewrite/trace.h"

using namespace sinter;
using namespace sinter::ir;
using sinter::test::Oracle;

namespace {

/// A float expression over loads, selects and index values in disguise.
UOp value(Graph& g, test::RandomIndex& gen, int depth) {
  UOp other = constant(g, DType::F32, gen.pick(2) ? 0.0 : 7.0);
  if (depth == 0 || gen.pick(4) == 0) {
    UOp a = param(g, gen.pick(2), DType::F32, {16, 16});
    std::vector<UOp> index{gen.index(2), gen.index(1)};
    if (gen.pick(3) == 0) return load(a, index);
    UOp gate = gen.condition(2);
    UOp l = load(a, index, gate, other);
    if (gen.pick(2)) return l;
    return where(gen.pick(3) ? gate : gate & gen.condition(1), l, other);
  }
  // Integers of 64 bits that came from indices, as arange makes them, and back again.
  auto wide = [&](UOp i) { return cast(i, DType::I64); };
  switch (gen.pick(5)) {
    case 0: return where(gen.condition(1), value(g, gen, depth - 1), value(g, gen, depth - 1));
    case 1: return cast(wide(gen.index(1)) * 3.0 + wide(gen.index(1)), DType::F32);
    case 2: return where(lt(wide(gen.index(1)), wide(gen.index(1)) + 2.0), value(g, gen, depth - 1), other);
    case 3: {
      UOp i = cast(alu(gen.pick(2) ? Op::Sub : Op::Mul, {wide(gen.index(1)), wide(gen.index(1))}), DType::Index);
      return load(param(g, 2, DType::F32, {64}), std::vector<UOp>{gen.pick(2) ? minimum(i, gen.index(1)) : i});
    }
    default: return value(g, gen, depth - 1) + value(g, gen, depth - 1);
  }
}

/// All sources of the stores, each store's at its place in `begins`.
std::vector<UOp> sources_of(UOp sink, std::vector<size_t>& begins) {
  std::vector<UOp> all;
  for (UOp s : sink->src) {
    begins.push_back(all.size());
    all.insert(all.end(), s->src.begin() + 1, s->src.end());
  }
  begins.push_back(all.size());
  return all;
}

/// What the kernel writes at one point: for each store that happens its indices and value.
std::vector<Scalar> written(Oracle& oracle, const std::vector<size_t>& begins, test::RandomIndex& gen,
                            const std::vector<Scalar>& point) {
  const std::vector<Scalar> v = oracle.at(gen.ranges, point);
  std::vector<Scalar> out;
  for (size_t s = 0; s + 1 < begins.size(); ++s) {
    const bool gated = begins[s + 1] - begins[s] == 3;
    if (gated && !v[begins[s] + 2].as_int()) continue;
    out.push_back(v[begins[s]]);
    out.push_back(v[begins[s] + 1]);
  }
  return out;
}

}  // namespace

TEST_CASE("kernels keep their stores under all rules", "[fuzz][rewrite]") {
  std::map<std::string, int> fired;
  set_rewrite_sink([&](const RewriteEvent& e) { ++fired[e.rule]; });
  std::mt19937 random(99);
  for (int n = 0; n < 12000; ++n) {
    Arena g;
    test::RandomIndex gen(g, random);
    std::vector<UOp> stores;
    for (int s = 0; s < 1 + gen.pick(3); ++s) {
      UOp gate;
      if (gen.pick(2))
        gate = gen.pick(8) ? gen.condition(2) : lt(gen.range(), constant(g, DType::Index, 100 * (gen.pick(2) - 0)));
      stores.push_back(
          store(param(g, 3 + s, DType::F32, {64}), std::vector<UOp>{gen.index(2)}, value(g, gen, 2), {}, gate));
    }
    UOp before = sink(g, stores);
    UOp after = rewrite(g, before, simplify_rules(), "fuzz");
    std::vector<size_t> begins[2];
    Oracle first(sources_of(before, begins[0])), second(sources_of(after, begins[1]));
    for (int i = 0; i < 6; ++i) {
      const std::vector<Scalar> point = gen.point();
      if (written(first, begins[0], gen, point) != written(second, begins[1], gen, point))
        FAIL(fmt::format("kernel {}\n{}became\n{}", n, dump(before), dump(after)));
    }
    if (!(rewrite(g, after, simplify_rules(), "fuzz") == after))
      FAIL(fmt::format("kernel {} is no fixed point\n{}", n, dump(after)));
  }
  set_rewrite_sink(nullptr);
  for (const StructuralRule& s : index_rules().structural_rules()) {
    INFO(s.name);
    CHECK(fired[s.name] >= 100);
  }
}

// What the heuristic asks for where registers are few and vectors narrow: 16 of 32 bytes.
#include "codegen/tune/heuristic/materialize_rows.h"
#include "unit/codegen/choice.h"

using namespace codegen_test;

namespace {

runtime::Target avx2() {
  runtime::Target target = reference_machine("x86-64-v3", 32, 16);
  target.l1 = 32 << 10;
  target.l2 = 512 << 10;
  target.threads = 1;
  return target;
}

/// Batches of x [m, k] times y [k, n].
KernelHarness product(int64_t batch, int64_t m, int64_t k, int64_t n) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {batch, m, k}, 1)),
      y = b.buffer(random_array(DType::F32, {batch, k, n}, 2)), out = b.buffer(Array(DType::F32, {batch, m, n}));
  UOp item = b.outer(batch), i = b.outer(m), j = b.outer(n), l = b.over(k, 3);
  b.stores({b.put(out, {item, i, j}, b.reduce(Combine::Dot, {b.at(x, {item, i, l}), b.at(y, {item, l, j})}, {l}))});
  return b;
}

}  // namespace

TEST_CASE(
    "tiles have two vectors by six rows where panels come from the second cache, three by four where they stay in the "
    "first",
    "[codegen][products]") {
  const auto has_tile = [](const Choice& c, int vectors, int rows) {
    UNSCOPED_INFO(to_string(c.opts()));
    return c.has_full_tile(2) && c.copies(2) == vectors && c.copies(1) == rows;
  };
  CHECK(has_tile(Choice(product(2, 512, 1024, 528), avx2()), 2, 6));
  CHECK(has_tile(Choice(product(2, 512, 160, 528), avx2()), 3, 4));
  // With more registers tiles compute enough for each vector that comes.
  CHECK(has_tile(Choice(product(2, 512, 1024, 576)), 4, 6));
}

TEST_CASE("lanes lie along the columns where too many rows of results share sets", "[codegen][products]") {
  // x [m, 256] times y [n, 256] turned, which is packed across the lanes, and perhaps plus z [m, n].
  const auto lanes_along_rows = [](int64_t m, int64_t n, bool plus = true) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {m, 256}, 1)), y = b.buffer(random_array(DType::F32, {n, 256}, 2)),
        z = b.buffer(random_array(DType::F32, {m, n}, 3)), out = b.buffer(Array(DType::F32, {m, n}));
    UOp i = b.outer(m), j = b.outer(n), l = b.over(256, 2);
    UOp sum = b.reduce(Combine::Dot, {b.at(x, {i, l}), b.at(y, {j, l})}, {l});
    b.stores({b.put(out, {i, j}, plus ? sum + b.at(z, {i, j}) : sum)});
    const Choice c(b, avx2());
    INFO(to_string(c.opts()));
    b.check(c.opts(), false);
    return c.has_lanes(0);
  };
  CHECK(lanes_along_rows(32, 1024, false));
  CHECK(!lanes_along_rows(64, 1024));  // the second cache has room for 128 lines at this distance, results and z
  CHECK(lanes_along_rows(64, 1000));
}

TEST_CASE("a vector beyond the end of short rows takes the register of its mask and one more", "[codegen][products]") {
  runtime::Target target = avx2();
  target.multiply_latency = 5;  // twelve sums hide it
  size_t tiles = 0;
  for (const int64_t rows : {36, 60, 96, 256})
    for (const int64_t columns : {9, 10, 12, 15}) {
      const Choice c(product(1, rows, 128, columns), target);
      if (!c.has_lanes(2) || c.packs() > 0) continue;
      INFO(rows << " x " << columns << ": " << to_string(c.opts()));
      ++tiles;
      CHECK(c.accumulators() + c.copies(2) + 1 + 2 <= target.vector_registers);
    }
  CHECK(tiles > 0);
}

TEST_CASE("a matrix of which narrow vectors read little of each row is copied into panels earlier",
          "[codegen][products]") {
  const auto copied = [](const KernelHarness& b, const runtime::Target& target = avx2()) {
    return Choice(b, target).packs() > 0;
  };
  CHECK(copied(product(2, 120, 250, 250)));
  CHECK(!copied(product(2, 50, 250, 250)));   // too few rows to make up for it
  CHECK(!copied(product(2, 120, 120, 250)));  // a quarter of the second cache holds it
  CHECK(!copied(product(2, 120, 500, 100)));  // rows near each other
  runtime::Target wide = runtime::reference_target();
  wide.l2 = avx2().l2;
  CHECK(!copied(product(2, 120, 250, 250), wide));
}

TEST_CASE("beside a product with many sums others along what it sums have the copies of its rows alone",
          "[codegen][products]") {
  for (const bool divided : {false, true}) {  // by their sums, which have more chains than a vector has lanes
    KernelHarness b;                          // weights of attention, times values
    const int64_t m = 48, n = 160, d = 64;
    UOp scores = b.buffer(random_array(DType::F32, {m, n}, 1)), values = b.buffer(random_array(DType::F32, {n, d}, 2)),
        out = b.buffer(Array(DType::F32, {m, d}));
    UOp i = b.outer(m), j = b.inner(d, 1), k = b.over(n, 2), weight = exp(b.at(scores, {i, k}));
    UOp sum = b.reduce(Combine::Dot, {weight, b.at(values, {k, j})}, {k});
    if (divided) sum = sum / b.reduce(Combine::Add, {weight}, {k}, {16, 0});
    b.stores({b.put(out, {i, j}, sum)});
    const Choice c(b, avx2());
    INFO(to_string(c.opts()));
    CHECK((c.copies(1) == 2 && c.copies(0) == 6));
    CHECK((c.has_lanes(2) && c.copies(2) == 1));
    b.check(c.opts(), false);
  }
}

TEST_CASE("what short rows read across the lanes is kept for their other loops", "[codegen][transpose]") {
  const auto centred = [](int64_t n, ReductionTree tree, bool turned) {  // by what they vary
    KernelHarness b;
    const int64_t rows = 100;
    UOp x = b.buffer(
            random_array(DType::F32, turned ? std::vector<int64_t>{n, rows} : std::vector<int64_t>{rows, n}, 1)),
        out = b.buffer(Array(DType::F32, {rows, n}));
    UOp i = b.outer(rows), j = b.inner(n, 1), v = turned ? b.at(x, {j, i}) : b.at(x, {i, j});
    UOp from = v - b.reduce(Combine::Add, {v}, {j}, tree) / static_cast<double>(n);
    b.stores({b.put(out, {i, j}, from / (b.reduce(Combine::Add, {from * from}, {j}, tree) + 1.0))});
    return b;
  };
  for (const runtime::Target& target : {avx2(), runtime::reference_target()}) {
    const auto keeps = [&](KernelHarness b) {
      const Choice made(b, target);
      b.check(made.opts(), false);
      return made.materialized() > 0;
    };
    CHECK(keeps(centred(48, {}, false)));
    CHECK(!keeps(centred(64, {16, 0}, false)));  // lanes lie along the row
    CHECK(!keeps(centred(48, {}, true)));        // and along memory
  }
  CHECK(codegen::legal_materializations(codegen::normalize(centred(48, {}, false).kernel).main,
                                        runtime::cuda_target({}), 1 << 20)
            .empty());
}

TEST_CASE("sums of rows in memory go through several rows at once, where each is a stream of its own", "[codegen]") {
  runtime::Target far = avx2();
  far.l2 = 8 << 10;  // whose fourfold small matrices exceed
  far.parallel_units = 4;
  far.near_l3 = false;
  runtime::Target near = far;
  near.near_l3 = true;
  const auto sums = [](const Dim& rows, int64_t size, int operands, Combine combine = Combine::Add,
                       bool padded = false) {
    KernelHarness b;
    UOp out = b.buffer(Array(DType::F32, {rows.bound()}), {rows}), i = b.outer(rows), j = b.over(size, 1), all;
    const UOp inside = padded ? lt(j, b.index(size - 3)) : UOp(), zero = constant(b.g(), DType::F32, 0.0);
    for (int k = 0; k < operands; ++k) {
      UOp buffer = b.buffer(random_array(DType::F32, {rows.bound(), size}, static_cast<unsigned>(k)), {rows, size});
      UOp x = padded ? b.at(buffer, {i, j}, inside, zero) : b.at(buffer, {i, j});
      all = all ? all + x : x;
    }
    b.stores({b.put(out, {i}, b.reduce(combine, {all}, {j}, {16, 0}))});
    return b;
  };
  const auto at_once = [&](KernelHarness b, const runtime::Target& target) {
    const Choice made(b, target);
    INFO(to_string(made.opts()));
    b.check(made.opts(), false);
    CHECK((made.copies(0) > 1) == (made.prefetches() == 0));
    return made.copies(0);
  };
  CHECK(at_once(sums(33, 1100, 1), near) == 8);
  CHECK(at_once(sums(33, 1100, 1, Combine::Max), near) == 8);
  CHECK(at_once(sums(33, 1100, 2), near) == 4);
  CHECK(at_once(sums(9, 1100, 1), near) == 2);  // a launch needs its points
  CHECK(at_once(sums(99, 200, 1), near) == 1);  // rows end before what is fetched ahead of them is needed
  CHECK(at_once(sums(33, 1100, 1), far) == 1);
  CHECK(at_once(sums(33, 1100, 1, Combine::Add, true), near) == 1);  // masks, which no core foresees
  const Var some("rows", 1, 33);
  const KernelHarness unknown = sums(some(33), 1100, 1);  // which may be one row for all threads
  CHECK(Choice(unknown, near).copies(0) == 1);
}

TEST_CASE("rows that are turned in registers are asked for ahead, where they come from memory",
          "[codegen][transpose]") {
  const auto ahead = [](int64_t n, int64_t l2, bool near) {
    KernelHarness b;  // norms of rows, by which they are divided
    UOp x = b.buffer(random_array(DType::F32, {200, n}, 1)), out = b.buffer(Array(DType::F32, {200, n}));
    UOp i = b.outer(200), j = b.inner(n, 1), v = b.at(x, {i, j});
    b.stores({b.put(out, {i, j}, v / (b.reduce(Combine::Dot, {v, v}, {j}) + 1.0))});
    runtime::Target target = avx2();
    target.l2 = l2;
    target.near_l3 = near;
    const std::vector<Opt> made = chosen(b, target);
    b.check(made, false);
    for (const Opt& o : made)
      if (const auto* p = std::get_if<codegen::Prefetch>(&o); p && p->range == 0) return p->distance;
    return int64_t{0};
  };
  CHECK(ahead(48, 8 << 10, true) == 8);   // eight rows of 192 bytes, nearly 2 KB
  CHECK(ahead(20, 2 << 10, true) == 24);  // of 80 bytes
  CHECK(ahead(48, 64 << 10, true) == 0);
  CHECK(ahead(300, 8 << 10, true) == 0);  // the next eight rows are further away than that
  CHECK(ahead(48, 8 << 10, false) == 0);
}

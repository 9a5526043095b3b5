// A matrix in panels of some columns: heads that lie one after the other, or weights that were packed before.
#include <functional>

#include "schedule/lower/kernel_passes.h"
#include "unit/codegen/choice.h"

using namespace codegen_test;

namespace {

/// x [m, k] times a matrix of [k, panels * width] that lies as [panels, k, width]: by a column's number, or by its
/// panel's and its own.
KernelHarness product(int64_t m, int64_t k, int64_t panels, int64_t width, bool joined) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {m, k}, 1)), y = b.buffer(random_array(DType::F32, {panels, k, width}, 2));
  UOp row = b.outer(m), step = b.index(width);
  if (joined) {
    UOp out = b.buffer(Array(DType::F32, {m, panels * width})), column = b.outer(panels * width), l = b.over(k, 2);
    b.stores(
        {b.put(out, {row, column},
               b.reduce(Combine::Dot, {b.at(x, {row, l}), b.at(y, {idiv(column, step), l, mod(column, step)})}, {l}))});
  } else {
    UOp out = b.buffer(Array(DType::F32, {m, panels, width})), panel = b.outer(panels), column = b.outer(width),
        l = b.over(k, 3);
    b.stores({b.put(out, {row, panel, column},
                    b.reduce(Combine::Dot, {b.at(x, {row, l}), b.at(y, {panel, l, column})}, {l}))});
  }
  return b;
}

std::string text_of(const KernelHarness& b) { return to_string(chosen(b)); }

/// Splits the ranges of a kernel, which must keep its results, and returns their sizes.
std::vector<Dim> split(KernelHarness& b) {
  std::vector<Array> given = b.interpret();
  std::swap(given, b.arrays);
  schedule::split_polyphase(b.kernel);
  b.check(chosen(b), false);
  b.require_equal("the kernel before", given);
  return b.kernel.outer;
}

/// The columns of y [places, 9, 64], summed over its rows; `place` and `lane` say where column r lies.
KernelHarness columns(const Dim& size, const std::function<UOp(KernelHarness&, UOp)>& place,
                      const std::function<UOp(KernelHarness&, UOp)>& lane, bool gated = false) {
  KernelHarness b;
  UOp y = b.buffer(random_array(DType::F32, {5, 9, 64}, 1)), out = b.buffer(Array(DType::F32, {256}));
  UOp r = b.outer(size), l = b.over(9, 1);
  UOp other =
      gated ? idiv(r, b.index(2)) + mod(r, b.index(2)) * b.index(100) : UOp();  // what a window with a stride of 2 asks
  UOp value = gated ? b.at(y, {place(b, r), l, lane(b, r)}, lt(other, b.index(130)), constant(b.g(), DType::F32, 0.0))
                    : b.at(y, {place(b, r), l, lane(b, r)});
  b.stores({b.put(out, {r}, b.reduce(Combine::Add, {value}, {l}))});
  return b;
}
UOp panel_of(KernelHarness& b, UOp r) { return idiv(r, b.index(64)); }
UOp lane_of(KernelHarness& b, UOp r) { return mod(r, b.index(64)); }

}  // namespace

TEST_CASE("columns of a matrix in panels are gone through panel by panel", "[codegen][schedule]") {
  KernelHarness joined = product(20, 30, 3, 32, true);
  CHECK(split(joined) == std::vector<Dim>{20, 3, 32});
  CHECK(text_of(joined) == text_of(product(20, 30, 3, 32, false)));
  KernelHarness narrow = product(20, 30, 12, 8, true), odd = product(20, 30, 5, 24, true);  // no whole vectors
  CHECK(split(narrow) == std::vector<Dim>{20, 96});
  CHECK(split(odd) == std::vector<Dim>{20, 120});
}

TEST_CASE("only ranges of which one number makes all panels are split", "[codegen][schedule]") {
  const auto moved = [](int64_t by, bool lane) {
    return [=](KernelHarness& b, UOp r) {
      return lane ? mod(r + b.index(by), b.index(64)) : idiv(r + b.index(by), b.index(64));
    };
  };
  KernelHarness whole = columns(256, panel_of, lane_of), next = columns(256, moved(64, false), moved(64, true)),
                between = columns(128, moved(5, false), moved(5, true));
  CHECK(split(whole) == std::vector<Dim>{4, 64});
  CHECK(split(next) == std::vector<Dim>{4, 64});
  CHECK(split(between) == std::vector<Dim>{128});  // columns at no fixed distance
  KernelHarness rest = columns(200, panel_of, lane_of), gate = columns(256, panel_of, lane_of, true);
  CHECK(split(rest) == std::vector<Dim>{200});  // which 64 does not divide
  CHECK(split(gate) == std::vector<Dim>{256});  // phases of another number beside them
  const Dim n = Var("n", 1, 256)(128);
  KernelHarness symbolic = columns(n, panel_of, lane_of);
  CHECK(split(symbolic) == std::vector<Dim>{n});
}

TEST_CASE("a range of panels and one of phases are split side by side", "[codegen][schedule]") {
  KernelHarness b;  // out [i, r] = the sum over l of x [(i / 2) + l] * w [i % 2, l] * y [r / 32, l, r % 32]
  UOp x = b.buffer(random_array(DType::F32, {20}, 1)), w = b.buffer(random_array(DType::F32, {2, 7}, 2)),
      y = b.buffer(random_array(DType::F32, {3, 7, 32}, 3));
  UOp out = b.buffer(Array(DType::F32, {12, 96})), i = b.outer(12), r = b.outer(96), l = b.over(7, 2), two = b.index(2),
      width = b.index(32);
  UOp weight = b.at(x, {idiv(i, two) + l}) * b.at(w, {mod(i, two), l});
  b.stores({b.put(out, {i, r}, b.reduce(Combine::Dot, {weight, b.at(y, {idiv(r, width), l, mod(r, width)})}, {l}))});
  CHECK(split(b) == std::vector<Dim>{6, 2, 3, 32});
}

TEST_CASE(
    "where half of the second cache does not hold all panels each passes under as many rows as leave threads their "
    "points",
    "[codegen]") {
  const int64_t k = 513, all = runtime::reference_target().l2 / (k * 4) / 64;  // panels that would fill the cache
  REQUIRE(all == 7);
  KernelHarness many = product(40, k, all, 64, false);
  const Choice thirds(many), tall(product(4800, k, 2 * all, 64, false));
  CHECK((thirds.is_blocked(0) && thirds.tasks(0) == 3));
  CHECK_FALSE(Choice(product(40, k, 3, 64, false)).is_blocked(0));
  CHECK((tall.block(0) > 512 && tall.block(0) <= 1024 && 4800 % tall.block(0) == 0));
  many.check(thirds.opts(), false);

  KernelHarness batch;  // a matrix for each of many batches, of which one fits: x [b, m, k], y [b, h, k, 64]
  UOp x = batch.buffer(random_array(DType::F32, {32, 40, 65}, 1)),
      y = batch.buffer(random_array(DType::F32, {32, 4, 65, 64}, 2)),
      out = batch.buffer(Array(DType::F32, {32, 40, 4, 64}));
  UOp n = batch.outer(32), row = batch.outer(40), head = batch.outer(4), column = batch.outer(64),
      l = batch.over(65, 4);
  batch.stores(
      {batch.put(out, {n, row, head, column},
                 batch.reduce(Combine::Dot, {batch.at(x, {n, row, l}), batch.at(y, {n, head, l, column})}, {l}))});
  CHECK_FALSE(Choice(batch).block(1) == 40);
}

TEST_CASE("panels that were made before are not copied once more", "[codegen]") {
  const auto staged = [](const KernelHarness& b, bool near_l3 = false) {
    runtime::Target target = runtime::reference_target();
    target.near_l3 = near_l3;
    return Choice(b, target).packs() > 0;
  };
  CHECK_FALSE(staged(product(400, 2048, 12, 64, false)));
  CHECK(staged(product(400, 2048, 1, 64, false)));              // which all threads read,
  CHECK_FALSE(staged(product(120, 2048, 1, 64, false)));        // for as many rows as make up for it
  CHECK(staged(product(120, 2048, 12, 128, false)));            // wider than a tile
  CHECK_FALSE(staged(product(400, 2048, 1, 64, false), true));  // it is as good where it lies if the last cache is near
}

TEST_CASE("a vector along what is summed does not turn the copy of a panel", "[codegen][products]") {
  for (const bool turned : {false, true}) {  // the matrix itself
    KernelHarness b;
    const int64_t rows = 24, length = 144, columns = 1024;
    UOp x = b.buffer(random_array(DType::F32, turned ? std::vector{columns, length} : std::vector{length, columns}, 1)),
        bias = b.buffer(random_array(DType::F32, {length}, 2)),
        w = b.buffer(random_array(DType::F32, {rows, length}, 3)), out = b.buffer(Array(DType::F32, {rows, columns}));
    UOp i = b.outer(rows), j = b.outer(columns), k = b.over(length, 2);
    UOp value = (turned ? b.at(x, {j, k}) : b.at(x, {k, j})) + b.at(bias, {k});
    b.stores({b.put(out, {i, j}, b.reduce(Combine::Dot, {b.at(w, {i, k}), value}, {k}))});
    runtime::Target target = reference_machine("x86-64-v3", 32, 16);
    target.l2 = 512 << 10;
    const Choice c(b, target);
    INFO(to_string(c.opts()));
    REQUIRE(c.packs() == 1);
    CHECK(c.is_packed_transposed() == turned);
  }
}

TEST_CASE("rows whose lines evict one another are copied beside the panel", "[codegen][products]") {
  runtime::Target target = reference_machine("x86-64-v3", 32, 16);
  target.l1 = 32 << 10;
  target.l2 = 512 << 10;
  // x [k, m] turned, times y [k, n]: what gives a weight its gradient. `rows`: elements between rows of x.
  const auto choice = [&](int64_t m, int64_t k, int64_t n, int64_t rows, bool turned = true) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, turned ? std::vector{k, rows} : std::vector{m, k}, 1)),
        y = b.buffer(random_array(DType::F32, {k, n}, 2)), out = b.buffer(Array(DType::F32, {m, n}));
    UOp i = b.outer(m), j = b.outer(n), l = b.over(k, 2);
    b.stores({b.put(out, {i, j},
                    b.reduce(Combine::Dot, {turned ? b.at(x, {l, i}) : b.at(x, {i, l}), b.at(y, {l, j})}, {l}))});
    const Choice c(b, target);
    INFO(to_string(c.opts()));
    if (m * k * n < 20'000'000) b.check(c.opts(), false);
    return c;
  };
  const Choice turned = choice(67, 520, 512, 256);
  REQUIRE(turned.packs() == 2);
  CHECK(turned.panel(1) == turned.copies(0));         // the rows of a tile side by side
  CHECK(turned.depth(2) <= target.l2 / 2 / 4 / 512);  // so that many columns pass under a copy
  CHECK(choice(1024, 512, 512, 1024).packs() == 2);
  CHECK(choice(1000, 1000, 1000, 1000).packs() == 2);       // more lines than the first cache holds
  CHECK(choice(784, 256, 128, 784).packs() == 1);           // which these are not
  CHECK(choice(1024, 512, 512, 1024, false).packs() == 1);  // contiguous along what is summed
  CHECK(choice(1024, 512, 40, 1024).packs() <= 1);          // few columns read a row again
  target = reference_machine("x86-64-v4", 64, 32);
  CHECK(choice(67, 520, 512, 256).packs() == 2);
  target.multiplies_per_cycle = 1;  // steps take long enough to hide a line
  CHECK(choice(67, 520, 512, 256).packs() == 1);
}

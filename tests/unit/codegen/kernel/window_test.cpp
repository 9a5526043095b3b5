// Windows: sums of two ranges, and tiles that hold each of their positions once.
#include "codegen/kernel/window.h"

#include "codegen/kernel/access.h"
#include "unit/codegen/convolution.h"

using namespace codegen_test;
using codegen::Lanes, codegen::Split, codegen::TaskBlock, codegen::TileCopy, codegen::Unroll, codegen::Window;

namespace {

int image_of(const KernelHarness& b) {
  return place_of(b, [](UOp n) { return n->op == Op::Load && codegen::predicate_of(n); });
}

}  // namespace

TEST_CASE("a window is a sum of two ranges on which nothing else depends", "[codegen][window]") {
  KernelHarness b;
  UOp i = b.outer(8), k = b.over(3, 1), other = b.over(5, 2), x = b.buffer(random_array(DType::F32, {64}, 1));
  codegen::FreeRanges ranges;
  const auto window = [&](UOp at, UOp gate = {}) {
    UOp value = gate ? b.at(x, {at}, gate, constant(b.g(), DType::F32, 0)) : b.at(x, {at});
    return codegen::window_of(value, i, k, ranges);
  };
  const auto is = [&](const std::optional<Window>& w, int64_t step, int64_t dilation) {
    return w == Window{i, k, step, dilation};
  };
  UOp one = b.index(1), two = b.index(2), sum = i + k;
  CHECK(is(window(sum), 1, 1));
  CHECK(is(window(i * two + k), 2, 1));
  CHECK(is(window(i + k * two + b.index(3)), 1, 2));
  CHECK(is(window(i * b.index(6) + k * two), 3, 1));  // of every second element
  CHECK(is(window(sum + other * b.index(10)), 1, 1));
  CHECK(is(window(sum, le(one, sum)), 1, 1));
  CHECK(is(window(idiv(sum, two)), 1, 1));
  CHECK(window(i * two + k)->extent(8) == 17);
  CHECK(window(i + k * two)->extent(4) == 8);
  CHECK(!window(i));
  CHECK(!window(k));
  CHECK(is(window(b.index(7) - i + k), 1, -1));
  CHECK(is(window(b.index(7) + i - k, le(i, k)), 1, -1));
  CHECK(is(window(i * two - k + two), 2, -1));
  CHECK(window(i * two - k + two)->extent(8) == 17);
  CHECK(window(i * two - k + two)->first() == 2);
  CHECK(!window(i + k, le(i, k)));            // against one another
  CHECK(!window(i * two + k * b.index(3)));   // positions that no pair has
  CHECK(!window(sum, le(one, i)));            // a condition on one of them
  CHECK(!window(sum, le(two, i * two + k)));  // or on another sum
  CHECK(!window(idiv(i, two) + k));
  UOp inside = b.reduce(Combine::Add, {b.at(x, {sum})}, {k});  // binds the taps
  CHECK(!codegen::window_of(inside, i, k, ranges));
}

TEST_CASE("tiles hold each position of overlapping windows once", "[codegen][window]") {
  const auto [step, dilation, border] =
      GENERATE(values<std::tuple<int64_t, int64_t, int64_t>>({{1, 1, 1}, {1, 1, 0}, {2, 1, 1}, {1, 2, 2}, {3, 1, 0}}));
  INFO("step " << step << ", dilation " << dilation << ", border " << border);
  KernelHarness b = Convolution{.step = step, .dilation = dilation, .border = border}.kernel();
  const int image =
      border ? image_of(b) : place_of(b, [](UOp n) { return n->op == Op::Load && codegen::slot_of(n) == 0; });
  const TaskBlock all{1, 5}, rows{2, 6}, some{2, 4}, row{3, 16};
  const codegen::LoopOrder order{{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}}};
  const TileCopy plane{image, {{4}, {.range = 2, .taps = 5}, {.range = 3, .lanes = 4, .taps = 6}}};
  b.check({all, rows, row, order, plane});
  b.check({all, some, row, order, plane});  // the last task has fewer rows
  b.check({all, row, order, plane});        // a row a task
  b.check({Lanes{3, 8}, Unroll{3, 2}, Unroll{1, 3}, all, some, row, order, plane}, false);
  b.check({Lanes{3, 8}, Unroll{2, 2}, all, rows, row, Unroll{6, 3}, Unroll{5, 3}, order, plane}, false);
  const TileCopy blocks{image, {{4}, {.range = 2, .level = 0, .taps = 5}, {.range = 3, .taps = 6}}, 0, 3};
  b.check({Split{2, 2}, all, rows, row, {codegen::LoopOrder{{{2, 0}, {1, 0}, {2, 1}, {3, 0}}}}, blocks}, false);
  b.check({all, rows, row, order, TileCopy{image, {{.range = 3, .taps = 6}}}}, false);  // the others one by one
}

TEST_CASE("windows lie along loops inside a task too", "[codegen][window]") {
  KernelHarness b;
  const int64_t rows = 12, taps = 3, columns = 8;
  UOp x = b.buffer(random_array(DType::F32, {rows + taps - 1, columns}, 1)),
      w = b.buffer(random_array(DType::F32, {4, taps}, 2)), out = b.buffer(Array(DType::F32, {4, rows, columns}));
  UOp f = b.outer(4), r = b.inner(rows, 1), c = b.inner(columns, 2), k = b.over(taps, 3);
  b.stores({b.put(out, {f, r, c}, b.reduce(Combine::Dot, {b.at(x, {r + k, c}), b.at(w, {f, k})}, {k}))});
  const int image = place_of(b, [](UOp n) { return n->op == Op::Load && codegen::slot_of(n) == 0; });
  b.check({TaskBlock{0, 4}, TileCopy{image, {{.range = 1, .taps = 3}, {.range = 2, .lanes = 8}}}});
  b.check({TaskBlock{0, 4}, Split{1, 4}, TileCopy{image, {{.range = 1, .level = 0, .taps = 3}, {2}}}});
}

TEST_CASE("two values may have windows along the same ranges if these are the same sums", "[codegen][window]") {
  for (const int64_t step : {1, 2}) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {10}, 1)), y = b.buffer(random_array(DType::F32, {17}, 2)),
        out = b.buffer(Array(DType::F32, {8}));
    UOp i = b.outer(8), k = b.over(3, 1);
    b.stores({b.put(out, {i}, b.reduce(Combine::Dot, {b.at(x, {i + k}), b.at(y, {i * b.index(step) + k})}, {k}))});
    const auto tile = [&](int64_t slot) {
      return TileCopy{place_of(b, [&](UOp n) { return n->op == Op::Load && codegen::slot_of(n) == slot; }),
                      {{.range = 0, .taps = 1}}};
    };
    if (step == 1)
      b.check({TaskBlock{0, 8}, tile(0), tile(1)});
    else
      refused(b, {TaskBlock{0, 8}, tile(0), tile(1)}, "another sum");
  }
}

TEST_CASE("blocks of windows may end behind the range, and a cut range may have one value", "[codegen][window]") {
  KernelHarness b = Convolution{.rows = 8, .border = 0}.kernel();
  const int image = place_of(b, [](UOp n) { return n->op == Op::Load && codegen::slot_of(n) == 0; });
  const TileCopy plane{image, {{4}, {.range = 2, .taps = 5}, {.range = 3, .taps = 6}}};
  b.check({TaskBlock{1, 5}, TaskBlock{2, 3}, TaskBlock{3, 16}, plane});
  b.check({TaskBlock{1, 5}, TaskBlock{3, 16}, codegen::Cut{2, {3}}, plane}, false);
}

TEST_CASE("tiles of windows that cannot be are refused", "[codegen][window]") {
  KernelHarness b = Convolution{}.kernel();
  const int image = image_of(b);
  const TaskBlock rows{2, 6}, row{3, 16};
  const auto tile = [&](std::vector<TileCopy::CopyDim> dims, int panel = 0) {
    return TileCopy{image, std::move(dims), panel};
  };
  refused(b, {rows, row, tile({{.range = 2, .taps = 6}})}, "through a sum alone");
  refused(b, {rows, row, tile({{.range = 2, .taps = 9}})}, "no range of that id");
  refused(b, {rows, row, tile({{4}, {.range = 3, .taps = 6}}, 8)}, "plain rows");
  refused(b, {rows, row, tile({{.range = 3, .taps = 6}, {3}})}, "in two dims");
  refused(b, {rows, {TaskBlock{3, 8}}, tile({{.range = 3, .lanes = 4, .taps = 6}})}, "is not a multiple");
  refused(b, {rows, {TaskBlock{3, 6}}, tile({{.range = 3, .lanes = 8, .taps = 6}})}, "begin anywhere");
  refused(b, {rows, row, tile({{.range = 2, .taps = 5}, {.range = 3, .taps = 5}})}, "in two dims");
  refused(b, {rows, row, TileCopy{100, {{.range = 3, .taps = 6}}}}, "no such value");
}

TEST_CASE("short loops of a sum that are nested are unrolled together", "[codegen][window]") {
  KernelHarness b = Convolution{}.kernel();
  CHECK(count(b.check({Unroll{6, 3}}, false), "inner range 5 of 3\n") == 1);
  CHECK(count(b.check({Unroll{5, 3}, Unroll{6, 3}}, false), "inner range 5 of 3\n") == 0);
  // Copies of an outer loop would take the steps of the inner one out of their order.
  CHECK(count(b.check({Unroll{5, 3}}, false), "inner range 5 of 3\n") == 1);
  CHECK(count(b.check({Unroll{5, 2}, Unroll{6, 3}}, false), "inner range 5 of 3\n") == 1);
  CHECK(count(b.check({Unroll{4, 3}, Unroll{5, 3}, Unroll{6, 3}}, false), "inner range") == 0);
}

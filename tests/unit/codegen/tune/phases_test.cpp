// Gradients of windows with a step: each phase of a result reads other taps.
#include <algorithm>

#include "ir/walk.h"
#include "schedule/lower/kernel_passes.h"
#include "unit/codegen/choice.h"

using namespace codegen_test;

namespace {

/// dx [n, c, stride * size] from dy [n, o, size] and w [o, c, taps], where y = stride * at + tap - padding. Ranges: 0
/// images, 1 channels, 2 results; 3 filters, 4 turns.
struct StridedGradient {
  int64_t stride = 2, taps = 3, padding = 1, o = 20, size = 10, n = 6, c = 32;

  int64_t turns() const { return (taps + stride - 1) / stride; }
  KernelHarness kernel() const {
    KernelHarness b;
    UOp dy = b.buffer(random_array(DType::F32, {n, o, size}, 1)),
        w = b.buffer(random_array(DType::F32, {o, c, taps}, 2)),
        out = b.buffer(Array(DType::F32, {n, c, stride * size}));
    UOp image = b.outer(n), to = b.outer(c), y = b.outer(stride * size);
    UOp from = b.over(o, 3), turn = b.over(turns(), 4);
    UOp step = b.index(stride), place = y + b.index(padding), at = idiv(place, step) - turn,
        tap = mod(place, step) + turn * step;
    UOp gate = (le(b.index(0), at) & lt(at, b.index(size))) & lt(tap, b.index(taps)),
        zero = constant(b.g(), DType::F32, 0.0);
    b.stores(
        {b.put(out, {image, to, y},
               b.reduce(Combine::Dot, {b.at(dy, {image, from, at}, gate, zero), b.at(w, {from, to, tap}, gate, zero)},
                        {from, turn}))});
    return b;
  }
};

}  // namespace

TEST_CASE("the gradient of a window with a stride is as many products as it has phases", "[codegen][products]") {
  const auto gradient =
      GENERATE(StridedGradient{2, 3, 1, 20, 10}, StridedGradient{2, 3, 1, 32, 32}, StridedGradient{2, 5, 2, 20, 10},
               StridedGradient{2, 4, 0, 20, 10}, StridedGradient{3, 4, 1, 20, 10}, StridedGradient{4, 4, 0, 20, 10});
  KernelHarness b = gradient.kernel();
  std::vector<Array> given = b.interpret();
  std::swap(given, b.arrays);

  schedule::split_polyphase(b.kernel);
  REQUIRE(b.kernel.outer == std::vector<Dim>{gradient.n, gradient.c, gradient.size, gradient.stride});
  const Choice choice(b);
  const std::vector<Opt>& opts = choice.opts();
  INFO(to_string(opts));
  CHECK(choice.packs() > 0);    // of the weights that one phase reads
  CHECK(choice.copies(2) > 1);  // neighbours of a row
  CHECK((gradient.turns() > 1 ? choice.is_peeled(2) : !choice.is_cut(2)));
  // Each phase has code of its own, if some have fewer taps or reach over other ends.
  const bool alike = gradient.taps % gradient.stride == 0 && gradient.padding % gradient.stride == 0;
  CHECK((alike ? !choice.is_cut(3) : choice.is_cut(3) && choice.is_whole(3)));
  for (UOp n : topological(codegen::normalize(b.kernel).main.sink))
    if (n->op == Op::IDiv || n->op == Op::Mod)
      for (UOp r : topological(n)) CHECK_FALSE((r->op == Op::Range && codegen::range_id(r) == 2));
  b.check(opts, false);
  b.require_equal("the kernel before", given);

  const std::vector<Dim> once = b.kernel.outer;
  schedule::split_polyphase(b.kernel);
  CHECK(b.kernel.outer == once);
}

TEST_CASE("phases stay tasks where there are too many of them, or too few other tasks", "[codegen][products]") {
  const auto phases_are_cut = [](const StridedGradient& gradient, int threads) {
    KernelHarness b = gradient.kernel();
    schedule::split_polyphase(b.kernel);
    runtime::Target target = runtime::reference_target();
    target.threads = threads;
    const Choice choice(b, target);
    UNSCOPED_INFO(to_string(choice.opts()));
    CHECK((choice.is_cut(3) || choice.block(3) == 1));
    CHECK(choice.tasks(0) * choice.tasks(1) * choice.tasks(2) * choice.tasks(3) >= std::min(threads, 2));
    b.check(choice.opts(), false);
    return choice.is_cut(3);
  };
  CHECK(phases_are_cut({.stride = 4, .taps = 7}, 1));
  CHECK(!phases_are_cut({.stride = 5, .taps = 7}, 1));
  const StridedGradient two{.n = 2};
  CHECK(phases_are_cut(two, 1));
  CHECK(phases_are_cut(two, 2));
  CHECK(!phases_are_cut(two, 8));
}

// Windows: values of all small ones, their indices, and what becomes of a convolution's input gradient.
#include "catch.h"
#include "interp/interpreter.h"
#include "ir/build.h"
#include "ir/dump.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "rewrite/movement_index.h"
#include "sinter/error.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule::testing;

namespace {

struct Case {
  int64_t size, taps, stride, dilation;
};

std::vector<Case> small_windows() {
  std::vector<Case> cases;
  for (int64_t size = 1; size <= 11; ++size)
    for (int64_t taps = 1; taps <= 5; ++taps)
      for (int64_t stride = 1; stride <= 4; ++stride)
        for (int64_t dilation = 1; dilation <= 4; ++dilation)
          if ((taps - 1) * dilation < size) cases.push_back({size, taps, stride, dilation});
  return cases;
}

/// The index of a chain of views, from its head down to the Param.
ElementIndex index_of(Graph& g, UOp head, const std::vector<UOp>& at) {
  ElementIndex place{at, {}};
  for (; is_movement(head->op); head = head->src[0]) place = source_index(g, head, place);
  return place;
}

/// y[n, o, h, w] = sum of x[n, c, h + i, w + j] * k[o, c, i, j], the gradient of x for g = dy: as the rules build it.
UOp input_gradient(UOp g, UOp k, int64_t height, int64_t width) {
  const int64_t n = g->shape[0].value(), o = g->shape[1].value(), h = g->shape[2].value(), w = g->shape[3].value();
  const int64_t c = k->shape[1].value(), i = k->shape[2].value(), j = k->shape[3].value();
  const Shape full{n, o, c, h, i, w, j};
  UOp product = expand(g, full, {2, 4, 6}) * expand(k, full, {0, 3, 5});
  UOp s = reshape(sum(product, {1}), {n, c, h, i, w, j});
  s = reshape(sum(slide(s, 4, -1, width), {5}), {n, c, h, i, width});
  return reshape(sum(slide(s, 2, -1, height), {3}), {n, c, height, width});
}

}  // namespace

TEST_CASE("windows of every size, stride and dilation", "[window]") {
  for (const Case& c : small_windows()) {
    INFO("size " << c.size << " taps " << c.taps << " stride " << c.stride << " dilation " << c.dilation);
    Arena g;
    UOp w = window(param(g, 0, DType::F32, {2, c.size, 3}), 1, c.taps, c.stride, c.dilation);
    const int64_t count = (c.size - (c.taps - 1) * c.dilation - 1) / c.stride + 1;
    REQUIRE(w->shape == Shape{2, count, c.taps, 3});
    CHECK_NOTHROW(verify_plan(std::vector<UOp>{w}, "test"));
    runtime::Array x(DType::F32, {2, c.size, 3});
    for (int64_t i = 0; i < x.numel(); ++i) x.set(i, Scalar::of(DType::F32, i + 1));
    const runtime::Array got = runtime::interpret({&w, 1}, {{&x, 1}, {}, {}, {}})[0];
    bool same = true;
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t o = 0; o < count; ++o)
        for (int64_t k = 0; k < c.taps; ++k)
          for (int64_t i = 0; i < 3; ++i)
            same &= got.at(((b * count + o) * c.taps + k) * 3 + i) ==
                    x.at((b * c.size + o * c.stride + k * c.dilation) * 3 + i);
    CHECK(same);
  }
}

TEST_CASE("a window's index is o*stride + k*dilation, without a division or a gate", "[window]") {
  for (const Case& c : small_windows()) {
    INFO("size " << c.size << " taps " << c.taps << " stride " << c.stride << " dilation " << c.dilation);
    Arena g;
    UOp w = window(param(g, 0, DType::F32, {c.size}), 0, c.taps, c.stride, c.dilation);
    std::vector<UOp> at;
    for (size_t i = 0; i < 2; ++i)
      at.push_back(w->shape[i] == 1 ? constant(g, DType::Index, 0)
                                    : range(extent_of(g, w->shape[i]), static_cast<int>(i), AxisKind::Outer));
    const ElementIndex place = index_of(g, w, at);
    CHECK_FALSE(place.valid);
    for (UOp n : topological(place.index)) {
      const bool divides = n->op == Op::IDiv || n->op == Op::Mod;
      INFO(dump(place.index));
      CHECK_FALSE(divides);
    }
  }
}

TEST_CASE("a window that does not fit is no window", "[window]") {
  Arena g;
  UOp x = param(g, 0, DType::F32, {4});
  CHECK_THROWS_AS(window(x, 0, 5, 1, 1), InternalError);
  CHECK_THROWS_AS(window(x, 0, 3, 1, 2), InternalError);
  CHECK_THROWS_AS(window(x, 0, 2, 0, 1), InternalError);
  CHECK_THROWS_AS(slide(x, 0, 1, 4), InternalError);
}

TEST_CASE("the gradient of a convolution's input is one sum of products", "[window][schedule]") {
  Program p;
  UOp g = p.slot({2, 3, 6, 5}), k = p.slot({3, 4, 3, 2});
  p.store(input_gradient(g, k, 8, 6));
  schedule::PlanGraph plan = p.plan;
  const schedule::Partition table = schedule::partition_plan(plan, runtime::reference_target());
  int sums = 0, dots = 0;
  for (UOp n : topological(plan.outputs[0].value)) {
    sums += n->op == Op::Reduce;
    dots += n->op == Op::Reduce && n->reduction().combine == Combine::Dot;
  }
  INFO(dump(plan.outputs[0].value));
  CHECK(sums == 1);
  CHECK(dots == 1);
  CHECK(table.kernels.size() == 1);

  Inputs in;
  for (const Shape& s : {g->shape, k->shape}) {
    std::vector<int64_t> sizes;
    for (const Dim& d : s) sizes.push_back(d.value());
    in.slots.emplace_back(DType::F32, sizes);
    for (int64_t i = 0; i < in.slots.back().numel(); ++i)
      in.slots.back().set(i, Scalar::of(DType::F32, static_cast<double>(i * 7 % 11 - 5)));
  }
  const runtime::Array expected = oracle(p.plan, in).outputs[0];
  CHECK(run(schedule::schedule(p.plan, runtime::reference_target()), in).outputs[0].data == expected.data);
}

TEST_CASE("sums of products that slide back without a sum of their own are sums of products too",
          "[window][schedule]") {
  // As in the gradient of a depthwise convolution's input, along one axis: taps x places -> places.
  const auto combine = [](auto factors) {
    Program p;
    const auto [x, y] = factors(p);
    p.store(sum(slide(x * y, 0, -1, 7), {1}));
    schedule::PlanGraph plan = p.plan;
    schedule::partition_plan(plan, runtime::reference_target());
    Combine found{};
    for (UOp n : topological(plan.outputs[0].value))
      if (n->op == Op::Reduce) found = n->reduction().combine;
    Inputs in;
    for (int slot = 0; slot < 2; ++slot) {
      in.slots.emplace_back(DType::F32, std::vector<int64_t>{5, 3});
      for (int64_t i = 0; i < 15; ++i)
        in.slots.back().set(i, Scalar::of(DType::F32, i == 4 ? std::numeric_limits<double>::infinity()
                                                             : static_cast<double>(i * 7 % 11 - 5)));
    }
    const auto want = oracle(p.plan, in).outputs[0],
               got = run(schedule::schedule(p.plan, runtime::reference_target()), in).outputs[0];
    CHECK(want.data == got.data);  // places outside add nothing, infinite factors or not
    return found;
  };
  CHECK(combine([](Program& p) { return std::pair(p.slot({5, 3}), p.slot({5, 3})); }) == Combine::Dot);
  CHECK(combine([](Program& p) {
          const UOp x = p.slot({5, 3});
          p.slot({5, 3});
          return std::pair(x, like(x, 0.25));
        }) == Combine::Add);  // an average: nothing to multiply
}

TEST_CASE("inner sums stay where joining would repeat them, or where others read them", "[window][schedule]") {
  auto sums = [](schedule::PlanGraph plan) {
    schedule::partition_plan(plan, runtime::reference_target());
    int n = 0;
    for (UOp u : topological(values_of(plan))) n += u->op == Op::Reduce;
    return n;
  };
  Program wide;  // a kernel as large as the image: every element would be summed 49 times
  wide.store(input_gradient(wide.slot({2, 3, 1, 1}), wide.slot({3, 4, 7, 7}), 7, 7));
  CHECK(sums(wide.plan) > 1);

  Program read;
  UOp x = read.slot({4, 5, 3}), y = read.slot({4, 5, 3});
  UOp inner = sum(x * y, {0});
  read.store(sum(slide(inner, 0, -1, 7), {1}));
  CHECK(sums(read.plan) == 1);
  read.store(inner * 2.0);
  CHECK(sums(read.plan) == 2);
}

// What plans make of max_pool2d: largest elements, their places where a gradient goes there, and addresses that follow
// from no data.
#include <algorithm>
#include <bit>
#include <limits>

#include "catch.h"
#include "cost.h"
#include "explain.h"
#include "fixed_target.h"
#include "ir/walk.h"

using namespace sinter;

namespace {

/// What the kernels of a plan consist of.
struct Content {
  int maxima = 0, places = 0;  ///< reductions by Max; by ArgMax, each of its accumulators that is used
  int looked_up = 0;           ///< loads whose address is itself loaded or computed from what was
};

Content content_of(const std::vector<Tensor>& asked) {
  Content out;
  const plan::KernelSources made = testing::explain(asked, runtime::reference_target());
  for (const codegen::Kernel& k : made.scheduled.kernels)
    for (ir::UOp n : ir::topological(k.sink)) {
      const bool reduces = n->op == ir::Op::Reduce;
      out.maxima += reduces && n->reduction().combine == ir::Combine::Max;
      out.places += reduces && n->reduction().combine == ir::Combine::ArgMax;
      if (n->op != ir::Op::Load) continue;
      const std::vector<ir::UOp> address(n->src.begin() + 1, n->src.end());
      const std::vector<ir::UOp> below = ir::topological(address);
      out.looked_up += std::any_of(below.begin(), below.end(), [](ir::UOp b) { return b->op == ir::Op::Load; });
    }
  return out;
}

/// Minus infinities, minus ones, and as the largest zeros of both signs.
Tensor ties(const Shape& shape) {
  manual_seed(5);
  const Tensor n = randint(-2, 1, shape).to(float32), zero = where(randint(0, 2, shape) == 0, -0.0, 0.0);
  return stored(where(n == 0.0, zero, where(n == -2.0, -std::numeric_limits<double>::infinity(), n)));
}

}  // namespace

TEST_CASE("max_pool2d alone is a maximum, beside its gradient one loop finds element and place", "[launches]") {
  const MaxPoolOptions overlapping{.stride = 2, .padding = 1};
  for (const auto& [kernel, options] : {std::pair{2, MaxPoolOptions{}}, {3, overlapping}}) {
    INFO("kernel " << kernel);
    const Tensor x = stored(rand({2, 3, 8, 8})), leaf = x.detach().requires_grad();
    const Content alone = content_of({max_pool2d(x, kernel, options)}),
                  history = content_of({max_pool2d(leaf, kernel, options)});
    CHECK(alone.maxima == 1);
    CHECK(alone.places == 0);
    CHECK(history.maxima == 1);
    CHECK(history.places == 0);
    const Tensor y = max_pool2d(leaf, kernel, options);
    const Content beside = content_of({y, gradient((y * y).sum(), {leaf})[0]});
    CHECK(beside.maxima == 0);
    CHECK(beside.places >= 2);
  }
}

TEST_CASE("beside a loss that sums its elements, max_pool2d finds them in the kernel that finds their places",
          "[launches]") {
  const Tensor leaf = stored(rand({16, 16, 32, 32})).requires_grad(), weights = stored(rand({16, 16, 32, 32}));
  leaf.realize();
  const Tensor y = max_pool2d(leaf, 3, {.stride = 1, .padding = 1}), loss = (y * weights).sum();
  const std::vector<Tensor> asked{loss, gradient(loss, {leaf})[0]};
  const plan::KernelSources made = testing::explain(asked, runtime::reference_target());
  int finding = 0;
  for (const codegen::Kernel& k : made.scheduled.kernels) {
    const std::vector<ir::UOp> nodes = ir::topological(k.sink);
    finding += std::any_of(nodes.begin(), nodes.end(), [](ir::UOp n) {
      return n->op == ir::Op::Reduce && n->reduction().combine == ir::Combine::ArgMax;
    });
  }
  CHECK(finding == 1);
}

TEST_CASE("max_pool2d's gradient looks nothing up, and stores no positions for a loss that is held", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  const Tensor x = stored(rand({4, 8, 16, 16})), leaf = x.detach().requires_grad(),
               index = stored(zeros({4, 8, 16, 1}, int64));
  leaf.realize();
  const Tensor loss = max_pool2d(leaf, 2).sum(), g = gradient(loss, {leaf})[0];
  CHECK(content_of({g}).looked_up == 0);
  CHECK(content_of({gather(x, 3, index)}).looked_up == 1);
  CHECK(cost(g).bytes <= 2u * 4 * 4 * 8 * 16 * 16);
  CHECK(g.sum().item() == 4 * 8 * 8 * 8);
  // Windows that overlap and reach over the edge: no window is stored with all its taps, though the loss keeps what
  // they are made of.
  const Tensor wide = max_pool2d(leaf, 3, {.stride = 1, .padding = 1}).sum(), h = gradient(wide, {leaf})[0];
  CHECK(cost(h).bytes <= 4u * 4 * 4 * 8 * 16 * 16);  // places, written and read, the elements and their gradient
  CHECK(h.sum().item() == 4 * 8 * 16 * 16);
}

TEST_CASE("the place of a large window's first largest is found once, not for each of its inputs", "[launches]") {
  const Tensor leaf = stored(rand({8, 16, 32, 32})).requires_grad();
  leaf.realize();
  const plan::KernelSources made =
      testing::explain(gradient(max_pool2d(leaf, 8).sum(), {leaf}), runtime::reference_target());
  int found = 0;
  for (const codegen::Kernel& k : made.scheduled.kernels)
    for (ir::UOp n : ir::topological(k.sink)) {
      if (n->op != ir::Op::Reduce || n->reduction().combine != ir::Combine::ArgMax) continue;
      ++found;
      int64_t points = 1;
      for (const Dim& d : k.outer) points *= d.bound();
      CHECK(points == 8 * 16 * 4 * 4);
    }
  CHECK(found > 0);
  CHECK(made.scheduled.kernels.size() == 2);
}

TEST_CASE("max_pool2d has the same bits with and without history, alone and beside its gradient", "[launches]") {
  for (const int64_t kernel : {2, 3, 8, 16}) {  // the last two in lanes
    INFO("kernel " << kernel);
    const Tensor x = ties({2, 3, kernel == 8 ? 8 : 16, kernel == 8 ? 8 : 16}), leaf = x.detach().requires_grad();
    const auto bits = [](const Tensor& t) {
      std::vector<uint32_t> out;
      for (const float v : t.to_vector<float>()) out.push_back(std::bit_cast<uint32_t>(v));
      return out;
    };
    const Tensor y = max_pool2d(leaf, kernel), g = gradient((y * y).sum(), {leaf})[0];
    realize(y, g);
    const std::vector<uint32_t> beside = bits(y);
    CHECK(bits(max_pool2d(x, kernel)) == beside);
    CHECK(bits(max_pool2d(leaf, kernel)) == beside);
    CHECK(same_when_unfused([&] { return std::vector<Tensor>{max_pool2d(x, kernel)}; }));
    const auto both = [&] {
      return std::vector<Tensor>{max_pool2d(x, kernel), gradient(max_pool2d(leaf, kernel).sum(), {leaf})[0]};
    };
    CHECK(same_as_interpreted(both, 0));
  }
}

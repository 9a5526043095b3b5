// What each call of sinter/random.h draws: the same bits for any number of threads and on a GPU.
#include <functional>

#include "unit/runtime_support.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using Draw = std::function<Tensor(int64_t n, RandomOptions options)>;

/// On the device that options name.
Tensor on(const RandomOptions& o, std::vector<double> values) { return from(values).to(float32).to(o.device); }

struct NamedDraw {
  const char* name;
  Draw draw;
};

const NamedDraw kDraws[] = {
    {"rand", [](int64_t n, RandomOptions o) { return rand({n}, o); }},
    {"randn", [](int64_t n, RandomOptions o) { return randn({n}, o); }},
    {
        "randn float64",
        [](int64_t n, RandomOptions o) {
          o.dtype = float64;
          return randn({n}, o);
        },
    },
    {
        "randn float16",
        [](int64_t n, RandomOptions o) {
          o.dtype = float16;
          return randn({n}, o);
        },
    },
    {"randint", [](int64_t n, RandomOptions o) { return randint(-5, 100, {n}, o); }},
    {"randperm", [](int64_t n, RandomOptions o) { return randperm(n, o); }},
    {"bernoulli", [](int64_t n, RandomOptions o) { return bernoulli(0.3, {n}, o); }},
    {
        "bernoulli of a tensor",
        [](int64_t n, RandomOptions o) { return bernoulli(full({n}, 0.5, float32, o.device), o); },
    },
    {"rand_like", [](int64_t n, RandomOptions o) { return rand_like(zeros({n}, float32, o.device), o); }},
    {"randn_like", [](int64_t n, RandomOptions o) { return randn_like(zeros({n}, float32, o.device), o); }},
    {"randint_like", [](int64_t n, RandomOptions o) { return randint_like(zeros({n}, int32, o.device), 9, o); }},
    {"uniform", [](int64_t n, RandomOptions o) { return uniform(-1.0, 3.0, {n}, o); }},
    {"normal", [](int64_t n, RandomOptions o) { return normal(1.0, 2.0, {n}, o); }},
    {
        "normal of tensors",
        [](int64_t n, RandomOptions o) { return normal(full({n}, 1.0, float32, o.device), on(o, {2.0}), o); },
    },
    {"log_normal", [](int64_t n, RandomOptions o) { return log_normal(0.5, 0.25, {n}, o); }},
    {"exponential", [](int64_t n, RandomOptions o) { return exponential(1.5, {n}, o); }},
    {"gumbel", [](int64_t n, RandomOptions o) { return gumbel(0.0, 2.0, {n}, o); }},
    {"laplace", [](int64_t n, RandomOptions o) { return laplace(1.0, 0.5, {n}, o); }},
    {"cauchy", [](int64_t n, RandomOptions o) { return cauchy(0.0, 1.0, {n}, o); }},
    {"geometric", [](int64_t n, RandomOptions o) { return geometric(0.3, {n}, o); }},
    {"gamma", [](int64_t n, RandomOptions o) { return gamma(2.5, 2.0, {n}, o); }},
    {"gamma below 1", [](int64_t n, RandomOptions o) { return gamma(0.4, 1.0, {n}, o); }},
    {"beta", [](int64_t n, RandomOptions o) { return beta(2.0, 0.5, {n}, o); }},
    {
        "dirichlet",
        [](int64_t n, RandomOptions o) { return dirichlet(on(o, {1.0, 2.0, 0.5, 4.0}).expand({n, 4}), o); },
    },
    {"poisson", [](int64_t n, RandomOptions o) { return poisson(3.0, {n}, o); }},
    {"poisson of a large rate", [](int64_t n, RandomOptions o) { return poisson(40.0, {n}, o); }},
    {"categorical", [](int64_t n, RandomOptions o) { return categorical(on(o, {0.1, 1.0, 0.5, -2.0}), n, o); }},
    {
        "categorical of rows",
        [](int64_t n, RandomOptions o) { return categorical(on(o, {0.1, 1.0, 0.5, -2.0}).expand({n, 4}), o); },
    },
    {"multinomial", [](int64_t n, RandomOptions o) { return multinomial(on(o, {0.1, 0.2, 0.3, 0.4}), n, true, o); }},
    {
        "multinomial without replacement",
        [](int64_t n, RandomOptions o) { return multinomial(on(o, {0.1, 0.2, 0.3, 0.4}).expand({n, 4}), 3, false, o); },
    },
    {"trunc_normal", [](int64_t n, RandomOptions o) { return trunc_normal(0.0, 1.0, -0.5, 2.0, {n}, o); }},
};

std::vector<double> drawn(const NamedDraw& d, int64_t n, Device device = Device::cpu()) {
  Generator g(7);
  return numbers(d.draw(n, {.generator = &g, .device = device}).cpu());
}

}  // namespace

TEST_CASE("draws have the same bits for any number of threads", "[tensor]") {
  constexpr int64_t kMany = 70000;
  for (const NamedDraw& d : kDraws) {
    INFO(d.name);
    std::vector<std::vector<double>> made;
    for (const char* threads : {"1", "2", "5"}) {
      const runtime_test::ScopedEnv setting("SINTER_THREADS", threads);
      made.push_back(drawn(d, kMany));
    }
    CHECK(same(made[0], made[1]));
    CHECK(same(made[0], made[2]));
  }
}

TEST_CASE("draws on a GPU have the CPU's bits", "[tensor][cuda]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  for (const NamedDraw& d : kDraws) {
    INFO(d.name);
    CHECK(same(drawn(d, 300, Device::cuda()), drawn(d, 300)));
  }
}

// What each call of sinter/random.h draws: known answers, and the same bits for any number of threads and on a GPU.
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
  std::vector<double> known;  ///< the first four numbers of draw(4) with seed 7, since 0.2; functions are rounded
  Draw draw;
};

const NamedDraw kDraws[] = {
    {"rand",
     {0x1.7876a6p-1, 0x1.3e2e4cp-2, 0x1.2c0f6p-4, 0x1.fbbc6ap-1},
     [](int64_t n, RandomOptions o) { return rand({n}, o); }},
    {"randn",
     {-0x1.4b7b9p-5, -0x1.4842a2p-2, 0x1.f1af22p+0, 0x1.e123fp+0},
     [](int64_t n, RandomOptions o) { return randn({n}, o); }},
    {
        "randn float64",
        {0x1.84f048a0c804ep-3, -0x1.8edf4a483e2b7p-1, 0x1.88b1b46c9e5efp-2, -0x1.8af063ceefe54p+1},
        [](int64_t n, RandomOptions o) {
          o.dtype = float64;
          return randn({n}, o);
        },
    },
    {
        "randn float16",
        {-0x1.4b8p-5, -0x1.484p-2, 0x1.f1cp+0, 0x1.e14p+0},
        [](int64_t n, RandomOptions o) {
          o.dtype = float16;
          return randn({n}, o);
        },
    },
    {"randint", {0, 11, 47, 82}, [](int64_t n, RandomOptions o) { return randint(-5, 100, {n}, o); }},
    {"randperm", {2, 1, 0, 3}, [](int64_t n, RandomOptions o) { return randperm(n, o); }},
    {"bernoulli", {0, 0, 1, 0}, [](int64_t n, RandomOptions o) { return bernoulli(0.3, {n}, o); }},
    {
        "bernoulli of a tensor",
        {0, 1, 1, 0},
        [](int64_t n, RandomOptions o) { return bernoulli(full({n}, 0.5, float32, o.device), o); },
    },
    {"rand_like",
     {0x1.7876a6p-1, 0x1.3e2e4cp-2, 0x1.2c0f6p-4, 0x1.fbbc6ap-1},
     [](int64_t n, RandomOptions o) { return rand_like(zeros({n}, float32, o.device), o); }},
    {"randn_like",
     {-0x1.4b7b9p-5, -0x1.4842a2p-2, 0x1.f1af22p+0, 0x1.e123fp+0},
     [](int64_t n, RandomOptions o) { return randn_like(zeros({n}, float32, o.device), o); }},
    {"randint_like",
     {2, 7, 4, 6},
     [](int64_t n, RandomOptions o) { return randint_like(zeros({n}, int32, o.device), 9, o); }},
    {"uniform",
     {0x1.f0ed4cp+0, 0x1.f1726p-3, -0x1.69f85p-1, 0x1.7bbc6ap+1},
     [](int64_t n, RandomOptions o) { return uniform(-1.0, 3.0, {n}, o); }},
    {"normal",
     {0x1.d6908ep-1, 0x1.6f7abcp-2, 0x1.38d79p+2, 0x1.3091f8p+2},
     [](int64_t n, RandomOptions o) { return normal(1.0, 2.0, {n}, o); }},
    {
        "normal of tensors",
        {0x1.d6908ep-1, 0x1.6f7abcp-2, 0x1.38d79p+2, 0x1.3091f8p+2},
        [](int64_t n, RandomOptions o) { return normal(full({n}, 1.0, float32, o.device), on(o, {2.0}), o); },
    },
    {"log_normal",
     {0x1.a1d31p+0, 0x1.859124p+0, 0x1.571c0ep+1, 0x1.519c6p+1},
     [](int64_t n, RandomOptions o) { return log_normal(0.5, 0.25, {n}, o); }},
    {"exponential",
     {0x1.a3d84ep-3, 0x1.8ef7d6p-1, 0x1.be15e8p+0, 0x1.6d62b6p-8},
     [](int64_t n, RandomOptions o) { return exponential(1.5, {n}, o); }},
    {"gumbel",
     {0x1.2de48ap+1, -0x1.3f886ep-2, -0x1.ebedc8p+0, 0x1.322c04p+3},
     [](int64_t n, RandomOptions o) { return gumbel(0.0, 2.0, {n}, o); }},
    {"laplace",
     {0x1.51665cp+0, 0x1.863838p-1, 0x1.4513cp-5, 0x1.8613f4p+1},
     [](int64_t n, RandomOptions o) { return laplace(1.0, 0.5, {n}, o); }},
    {"cauchy",
     {0x1.d2b572p-1, -0x1.5a419cp-1, -0x1.11290ep+2, 0x1.31b304p+5},
     [](int64_t n, RandomOptions o) { return cauchy(0.0, 1.0, {n}, o); }},
    {"geometric", {1, 4, 8, 1}, [](int64_t n, RandomOptions o) { return geometric(0.3, {n}, o); }},
    {"gamma",
     {0x1.0dc774p+0, 0x1.c5339ap-1, 0x1.494442p+0, 0x1.01f83ap+0},
     [](int64_t n, RandomOptions o) { return gamma(2.5, 2.0, {n}, o); }},
    {"gamma below 1",
     {0x1.47b76ap-4, 0x1.cb11ecp-6, 0x1.9d0f4ep-1, 0x1.48314p-8},
     [](int64_t n, RandomOptions o) { return gamma(0.4, 1.0, {n}, o); }},
    {"beta",
     {0x1.dfe17ep-1, 0x1.f0d21p-1, 0x1.108b4p-1, 0x1.ed8e88p-1},
     [](int64_t n, RandomOptions o) { return beta(2.0, 0.5, {n}, o); }},
    {
        "dirichlet",
        {0x1.a70826p-4, 0x1.b9058cp-3, 0x1.dd088ap-4, 0x1.213c88p-1},
        [](int64_t n, RandomOptions o) { return dirichlet(on(o, {1.0, 2.0, 0.5, 4.0}).expand({n, 4}), o); },
    },
    {"poisson", {4, 2, 1, 8}, [](int64_t n, RandomOptions o) { return poisson(3.0, {n}, o); }},
    {"poisson of a large rate", {35, 24, 44, 38}, [](int64_t n, RandomOptions o) { return poisson(40.0, {n}, o); }},
    {"categorical",
     {3, 1, 0, 1},
     [](int64_t n, RandomOptions o) { return categorical(on(o, {0.1, 1.0, 0.5, -2.0}), n, o); }},
    {
        "categorical of rows",
        {3, 1, 0, 1},
        [](int64_t n, RandomOptions o) { return categorical(on(o, {0.1, 1.0, 0.5, -2.0}).expand({n, 4}), o); },
    },
    {"multinomial",
     {3, 3, 0, 1},
     [](int64_t n, RandomOptions o) { return multinomial(on(o, {0.1, 0.2, 0.3, 0.4}), n, true, o); }},
    {
        "multinomial without replacement",
        {3, 0, 1, 3},
        [](int64_t n, RandomOptions o) { return multinomial(on(o, {0.1, 0.2, 0.3, 0.4}).expand({n, 4}), 3, false, o); },
    },
    {"trunc_normal",
     {0x1.af53fcp-1, 0x1.4f41fep-5, -0x1.75d7e2p-2, 0x1.e7f586p+0},
     [](int64_t n, RandomOptions o) { return trunc_normal(0.0, 1.0, -0.5, 2.0, {n}, o); }},
};

std::vector<double> drawn(const NamedDraw& d, int64_t n, Device device = Device::cpu()) {
  Generator g(7);
  return numbers(d.draw(n, {.generator = &g, .device = device}).cpu());
}

}  // namespace

TEST_CASE("draws have known answers", "[tensor]") {
  ON_BOTH_EXECUTORS();
  for (const NamedDraw& d : kDraws) {
    INFO(d.name);
    std::vector<double> got = drawn(d, 4);
    got.resize(4);
    CHECK(close(got, d.known, 1e-6));
  }
}

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

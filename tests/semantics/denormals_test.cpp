// N7 of docs/semantics.md: denormal floats are zeros where the program says so.
#include "float_modes.h"
#include "on_cpu.h"

#include <bit>
#include <cmath>
#include <limits>

#include "runtime/cpu/thread_pool.h"
#include "semantics/support.h"
#include "sinter/floats.h"
#include "sinter/jit.h"

using namespace semantics;

namespace {

/// While alive denormals are zeros, or are not.
class Flush {
 public:
  explicit Flush(bool on = true) : before_(flush_denormal()) { set_flush_denormal(on); }
  ~Flush() { set_flush_denormal(before_); }
  Flush(const Flush&) = delete;
  Flush& operator=(const Flush&) = delete;

 private:
  const bool before_;
};

bool is_denormal(double v, DType dtype) {
  const double least = dtype == float64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  return v != 0 && std::fabs(v) < least;
}
/// As they lie in memory: a conversion would be computed in the mode of now.
Vec stored_in(const Tensor& t) {
  if (t.dtype() == float64) return t.to_vector<double>();
  const std::vector<float> values = t.to_vector<float>();
  return {values.begin(), values.end()};
}
int denormals(const Tensor& t) {
  int count = 0;
  for (const double v : stored_in(t)) count += is_denormal(v, t.dtype());
  return count;
}

/// Stored numbers of that magnitude, and of both signs.
Tensor tiny(int64_t n, double magnitude, DType dtype) {
  Vec values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(magnitude * (1 + static_cast<double>(i % 5) / 8) * (i % 3 == 1 ? -1 : 1));
  return from(values).to(dtype).realize();
}

struct Case {
  const char* name;
  /// Of small normal numbers, and of denormal ones.
  std::function<Tensor(const Tensor& small, const Tensor& denormal)> of;
};
const std::vector<Case>& cases() {
  static const auto& all = *new std::vector<Case>{
      {"product", [](const Tensor& s, const Tensor&) { return s * 0.01; }},
      {"quotient", [](const Tensor& s, const Tensor&) { return s / 77.0; }},
      {"difference", [](const Tensor& s, const Tensor&) { return s * 1.01 - s; }},
      {"sum with a denormal", [](const Tensor&, const Tensor& d) { return d + 0.0; }},
      {"sum of denormals", [](const Tensor&, const Tensor& d) { return d + d; }},
      {"several of denormals", [](const Tensor&, const Tensor& d) { return d * 3.0 - d * 3.0 + d * 2.0; }},
      {"chain", [](const Tensor& s, const Tensor&) { return (s * 0.01) * 0.5 + s * 0.001; }},
      {"sums of rows", [](const Tensor& s, const Tensor&) { return (s * 0.001).reshape({-1, 5}).sum(1); }},
      {"sum of products",
       [](const Tensor& s, const Tensor&) {
         const Tensor rows = s.reshape({-1, 5});
         return (rows * full({5}, 1e-3, s.dtype()).contiguous()).sum(1);
       }},
      {"product of matrices",
       [](const Tensor& s, const Tensor&) {
         return matmul(s.reshape({-1, 5}), full({5, 3}, 1e-3, s.dtype()).contiguous());
       }},
      {"selected of it", [](const Tensor& s, const Tensor&) { return where(s > 0.0, s * 0.01, s * 0.02); }},
  };
  return all;
}

}  // namespace

TEST_CASE("N7 denormal operands and results are zeros where the program says so, and only there", "[semantics]") {
  const OnCpu cpu;
  ON_EACH_EXECUTOR();
  CHECK_FALSE(flush_denormal());
  for (const DType dtype : {float32, float64})
    for (const int64_t n : {5, 35, 4000, 1 << 17}) {
      if (n > 4000 && debug::executor() == debug::Executor::Interpreter) continue;
      const double least = dtype == float64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
      const int64_t count = n / 5 * 5;
      const Tensor small = tiny(count, least * 4, dtype), denormal = tiny(count, least / 64, dtype);
      CHECK(denormals(denormal) == count);
      for (const Case& c : cases()) {
        CAPTURE(c.name, name_of(dtype), count);
        const Tensor kept = c.of(small, denormal);
        CHECK(denormals(kept) > 0);
        {
          const Flush on;
          const Tensor flushed = c.of(small, denormal);
          const Vec got = stored_in(flushed), before = stored_in(kept);
          CHECK(denormals(flushed) == 0);
          bool signs = true;
          for (size_t i = 0; i < got.size(); ++i)
            signs &= got[i] != 0 || is_denormal(before[i], dtype) || before[i] == 0;
          CHECK(signs);  // normal numbers are no zeros
        }
        CHECK(stored_in(c.of(small, denormal)) == stored_in(kept));
      }
    }
}

TEST_CASE("N7 zeros have the sign of the denormal, and constants are folded as kernels compute", "[semantics]") {
  const OnCpu cpu;
  ON_EACH_EXECUTOR();
  const Flush on;
  const Tensor s = from({4e-38f, -4e-38f}).realize();
  const std::vector<float> got = (s * 0.01).to_vector<float>();
  CHECK(std::signbit(got[0]) == 0);
  CHECK(std::signbit(got[1]) == 1);
  for (const double by : {1e-12, 2e-12, 3e-12, 4e-12}) {  // as a constant, and as an argument
    CHECK(denormals(full({2}, 1e-30) * full({2}, by)) == 0);
    CHECK(denormals(full({2}, 1e-30) * by * 0.5 + s * 0.0) == 0);
    CHECK(denormals(s * (1e30 * by) * 1e-20 * 1e-20) == 0);
  }
  CHECK((full({2}, 1e-40) * 1e30).to_vector<float>() == std::vector<float>{0, 0});
  CHECK(denormals(sqrt(full({2}, 1e-40))) == 0);
  CHECK((from({1e-40f}).realize() == 0.0).all().item<bool>());
  CHECK_FALSE((from({1e-40f}).realize() > 0.0).all().item<bool>());
  for (const DType t : {float16, bfloat16}) {
    const Tensor x = full({4}, 0.25, t).contiguous().realize();
    CHECK((x * 4.0).to(float32).to_vector<float>() == std::vector<float>(4, 1));
  }
  const Tensor least = full({1}, 0x1p-24, float16).contiguous().realize();  // denormal there, and normal in float32
  CHECK((least * 2.0).to(float32).item<float>() == 0x1p-23f);
}

TEST_CASE("N7 a remainder is exact beside small divisors, whatever counts as zero", "[semantics]") {
  ON_EACH_EXECUTOR();
  for (const bool on : {false, true}) {
    const Flush scope(on);
    INFO(on);
    const Tensor x = from(std::vector<float>{0x1p-100f, 0x1p-90f, 0x1.8p-103f, 0x1p-125f, 0.0f});
    const Tensor y = from(std::vector<float>{0x1.2p-124f, 0x1.6p-120f, 0x1.2p-103f, 0x1p-124f, 0x1p-124f});
    CHECK(((x % y).to_vector<float>() == std::vector<float>{0x1p-124f, 0x1p-120f, 0x1.8p-105f, 0x1p-125f, 0}));
    CHECK((from(Vec{0x1p-1000}) % 0x1.2p-1020).item() == std::fmod(0x1p-1000, 0x1.2p-1020));
  }
}

TEST_CASE("N7 the mode is that of the evaluation, and what is stored stays", "[semantics]") {
  const OnCpu cpu;
  ON_EACH_EXECUTOR();
  const Tensor s = from({2e-38f, -3e-38f, 1.0f}).realize(), data = from({1e-40f, -2e-41f, 3.0f});
  const std::vector<std::byte> bits = data.to_bytes();
  Tensor late = s * 0.015, stored = (s * 0.01).realize();
  {
    const Flush on;
    CHECK(denormals(late) == 0);
    CHECK(denormals(stored) == 2);
    CHECK(data.to_bytes() == bits);
    CHECK(data.reshape({3, 1}).clone().realize().to_bytes() == bits);  // moved
    CHECK(data.flip().contiguous().flip().contiguous().to_bytes() == bits);
    CHECK(from_bytes(bits.data(), bits.size(), float32, {3}).to_bytes() == bits);
    CHECK(is_denormal(data[0].item(), float32));
  }
  CHECK(denormals(late) == 0);  // as it was computed
  const Tensor early = [&] {
    const Flush on;
    return s * 0.01;
  }();
  CHECK(denormals(early) == 2);
  for (const bool flush : {true, false}) {  // whichever thread
    const Flush mode(flush);
    int seen = -1;
    std::thread([&] { seen = denormals(s * 0.01); }).join();
    CHECK(seen == (flush ? 0 : 2));
  }
  for (const float_modes::FloatMode& mode : float_modes::kModes) {  // the caller's floats are its own
    const Flush on;
    const float_modes::ScopedFloatMode scope(mode);
    const bool zeros = denormals(s * 0.01) == 0;
    const bool held = scope.holds();
    CAPTURE(mode.name);
    CHECK(zeros);
    CHECK(held);
  }
}

TEST_CASE("N7 fused, unfused and on any number of threads the zeros are the same", "[semantics]") {
  const OnCpu cpu;
  const LeakCheck clean;
  const Flush on;
  const int before = runtime::cpu::thread_pool().threads();
  const Tensor x = tiny(1 << 16, std::numeric_limits<float>::min() * 4, float32).reshape({256, 256});
  const auto program = [&] {
    const Tensor y = x * 0.1 + x.transpose() * 0.07, z = tanh(y * 3.0) - y * 2.9;
    return (matmul(z, x * 0.25 + 1.0) + exp(y * 1e38 - 90.0) * 0.01).sum(0) * 0.37 + z.max(0);
  };
  std::vector<std::vector<std::byte>> all;
  for (const debug::Executor executor : {debug::Executor::Compiled, debug::Executor::Unfused})
    for (const int threads : {1, 2, 3, 7}) {
      debug::set_executor(executor);
      runtime::cpu::thread_pool().resize(threads);
      all.push_back(program().to_bytes());
    }
  debug::set_executor(debug::Executor::Compiled);
  runtime::cpu::thread_pool().resize(before);
  for (const auto& bytes : all) CHECK(bytes == all[0]);
}

TEST_CASE("N7 a jitted function's call has the mode of now", "[semantics]") {
  const OnCpu cpu;
  ON_EACH_EXECUTOR();
  const Tensor w = from({2e-38f, -3e-38f}).realize(), x = from({0.01f, 0.02f}).realize();
  auto f = jit([&](const Tensor& t) { return t * w + (w * 0.01) * 3.0; });
  for (int i = 0; i < 12; ++i) {
    const Flush mode(i % 8 > 3);
    CAPTURE(i);
    const Tensor y = f(x);
    CHECK(denormals(y) == (flush_denormal() ? 0 : 2));
    CHECK(y.to_bytes() == (x * w + (w * 0.01) * 3.0).to_bytes());
  }
}

TEST_CASE("N7 a heat equation decays to zeros and not into denormals", "[semantics]") {
  const OnCpu cpu;
  ON_EACH_EXECUTOR();
  const auto run = [](bool flush) {
    const Flush mode(flush);
    std::vector<float> start(64);
    start[32] = 1e-37f;
    Tensor u = from(start);
    for (int i = 0; i < 12; ++i) {
      u = (u + (u.pad({{1, 0}}).slice(0, {0, 64}) - u * 2.0 + u.pad({{0, 1}}).slice(0, {1, 65})) * 0.2).realize();
    }
    return u;
  };
  const Tensor kept = run(false), zeros = run(true);
  CHECK(denormals(kept) > 0);
  CHECK(denormals(zeros) == 0);
  const Vec a = stored_in(kept), b = stored_in(zeros);
  CHECK(b[32] > 0);
  for (size_t i = 0; i < a.size(); ++i) CHECK(std::fabs(a[i] - b[i]) < 12 * std::numeric_limits<float>::min());
}

// Sorts of values alone in vectors, for each instruction set that the machine has: the interpreter's bits.
#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/program/host_target.h"
#include "sinter/sorting.h"
#include "skip.h"
#include "unit/host_machine.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

/// The host with another instruction set, and two threads.
runtime::Target with_isa(const char* isa) {
  runtime::Target target = runtime::host_target();
  runtime::set_isa(target, isa);
  target.threads = 2;
  return target;
}

/// Those that the host has, and one whose sort has no vectors.
std::vector<const char*> instruction_sets() {
  std::vector<const char*> out;
  for (const char* isa : {"x86-64-v2", "x86-64-v3", "x86-64-v4"})
    if (isa <= runtime::host_target().isa) out.push_back(isa);
  return out;
}

/// Both directions on each instruction set.
void check_sorts(const Tensor& x) {
  x.realize();
  for (const bool descending : {false, true}) {
    const auto sorted = [&] { return sort(x, -1, descending).values; };
    const auto interpreted = [&] {
      const ScopedExecutor executing(debug::Executor::Interpreter);
      return value_of(sorted());
    }();
    for (const char* isa : instruction_sets()) {
      INFO(name_of(x.dtype()) << (descending ? " descending, " : ", ") << isa);
      const HostMachine machine(with_isa(isa));
      const bool equal = value_of(sorted()).data == interpreted.data;
      CHECK(equal);
    }
  }
}

uint64_t mixed(int64_t i) {
  const uint64_t h = static_cast<uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
  return (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
}
template <typename T>
std::vector<T> integers(int64_t count) {
  std::vector<T> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<T>(mixed(i)));
  return out;
}

/// Small numbers, so that many are equal, and zeros of both signs.
float some_number(int64_t i) {
  const uint64_t h = mixed(i);
  const float x = static_cast<float>(h >> 60) - 8 + (h & 1 ? 0.0f : static_cast<float>(h >> 40 & 0xffff) * 1e-5f);
  return h & 2 ? x : std::copysign(x, h & 4 ? 1.0f : -1.0f);
}
float some_nan(int64_t i) {  // quiet, as the interpreter's are
  return std::bit_cast<float>((i % 2 ? 0xffc00000u : 0x7fc00000u) + static_cast<uint32_t>(i) % 1000);
}

enum class Order { Mixed, Ascending, Descending, Equal, Few, MostlyEqual, OrganPipe, Misleading };
constexpr Order kOrders[] = {Order::Mixed, Order::Ascending,   Order::Descending, Order::Equal,
                             Order::Few,   Order::MostlyEqual, Order::OrganPipe,  Order::Misleading};
float element(Order order, int64_t i, int64_t n) {
  const auto at = static_cast<float>(i), any = static_cast<float>(mixed(i) >> 40);
  switch (order) {
    case Order::Mixed: return any;
    case Order::Ascending: return at;
    case Order::Descending: return -at;
    case Order::Equal: return 3;
    case Order::Few: return static_cast<float>(mixed(i) >> 61);
    case Order::MostlyEqual: return i % 50 == 7 ? any : 3;
    case Order::OrganPipe: return std::min(at, static_cast<float>(n) - at);
    case Order::Misleading:  // what stands where a sample is taken is larger than all others, which grow by powers
      return i % (n / 8) < 32 || i % (n / 8) > n / 8 - 16 ? 1e30f + at * 1e25f : std::exp2(static_cast<float>(i % 90));
  }
  return 0;
}

}  // namespace

TEST_CASE("any number of elements is sorted in vectors, beside NaNs", "[tensor]") {
  if (default_device() != Device::cpu()) SKIP_TEST("the default device is a GPU");
  constexpr int64_t kLength = 300;
  std::vector<float> x;
  for (int64_t row = 0; row <= kLength; ++row)  // as many numbers, at places that differ from row to row
    for (int64_t i = 0; i < kLength; ++i) {
      const int64_t id = row * kLength + i;
      x.push_back(i * 7 % kLength < row ? some_number(id) : some_nan(id));
    }
  check_sorts(from(x, {kLength + 1, kLength}));
  check_sorts(from(x, {kLength + 1, kLength}).to(float64));
}

TEST_CASE("rows of many lengths are sorted in vectors", "[tensor]") {
  if (default_device() != Device::cpu()) SKIP_TEST("the default device is a GPU");
  for (const int64_t n : {1, 3, 8, 9, 17, 33, 64, 130, 257}) {
    INFO("rows of " << n);
    check_sorts(from(integers<int32_t>(3 * n), {3, n}));
  }
  for (const int64_t n : {5, 40, 700}) {
    INFO("rows of " << n);
    check_sorts(from(integers<uint32_t>(3 * n), {3, n}));
    check_sorts(from(integers<int64_t>(3 * n), {3, n}));
    check_sorts(from(integers<uint64_t>(3 * n), {3, n}));
    std::vector<float> x;
    for (int64_t i = 0; i < 3 * n; ++i) x.push_back(i % 20 == 0 ? some_nan(i) : some_number(i));
    check_sorts(from(x, {3, n}));
    check_sorts(from(x, {3, n}).to(float64));
  }
}

TEST_CASE("elements in every order are sorted in vectors", "[tensor]") {
  if (default_device() != Device::cpu()) SKIP_TEST("the default device is a GPU");
  for (const int64_t n : {3000, 30'000, 300'001})  // the longest one in runs
    for (const Order order : kOrders) {
      INFO(n << " in order " << static_cast<int>(order));
      std::vector<float> x;
      for (int64_t i = 0; i < n; ++i) x.push_back(element(order, i, n));
      check_sorts(from(x));
      if (n < 300'000) check_sorts(from(x).to(float64));
    }
}

TEST_CASE("the smallest and the largest integers are sorted in vectors", "[tensor]") {
  if (default_device() != Device::cpu()) SKIP_TEST("the default device is a GPU");
  const auto check = [](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    for (const T most : {Limits::min(), Limits::max()}) {
      std::vector<T> x = integers<T>(3000);
      for (size_t i = 0; i < x.size(); ++i)
        if (i % 10) x[i] = most;
      check_sorts(from(x));
    }
    std::vector<T> misleading;
    for (int64_t i = 0; i < 30'000; ++i) {
      const bool sampled = i % (30'000 / 8) < 32 || i % (30'000 / 8) > 30'000 / 8 - 16;
      misleading.push_back(sampled ? Limits::max() : Limits::min() + static_cast<T>(T{1} << i % (Limits::digits - 1)));
    }
    check_sorts(from(misleading));
  };
  check(int32_t{});
  check(uint32_t{});
  check(int64_t{});
  check(uint64_t{});
}

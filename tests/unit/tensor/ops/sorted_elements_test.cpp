// Sorts that give elements alone, and selections through a sample: the bits of what stands at the sorted positions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "sinter/sorting.h"
#include "skip.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

enum class Order { Mixed, Ascending, Descending, Equal, MostlyEqual, Special, Misleading };
constexpr Order kOrders[] = {Order::Mixed,       Order::Ascending, Order::Descending, Order::Equal,
                             Order::MostlyEqual, Order::Special,   Order::Misleading};

float element(Order order, int64_t i, int64_t n) {
  const auto mixed = static_cast<float>(static_cast<uint32_t>(i) * 2654435761u % 1000003u) - 500000.0f;
  const auto at = static_cast<float>(i);
  switch (order) {
    case Order::Mixed: return mixed / 16;
    case Order::Ascending: return at;
    case Order::Descending: return -at;
    case Order::Equal: return 3;
    case Order::MostlyEqual: return i % 500 == 7 ? mixed : 3;
    case Order::Special: {  // NaNs that differ in their bits, infinities, zeros of both signs
      const float values[] = {std::bit_cast<float>(0x7fc00000u + static_cast<uint32_t>(i % 64)),
                              std::bit_cast<float>(0xffc00000u + static_cast<uint32_t>(i % 32)),
                              INFINITY,
                              -INFINITY,
                              0.0f,
                              -0.0f,
                              mixed,
                              1e-45f};
      return values[static_cast<uint32_t>(i) * 2654435761u >> 29];
    }
    case Order::Misleading:  // every element of a sample at equal distances is larger than nearly all others
      return i % std::max<int64_t>(n / 4096, 1) == 0 ? 1e6f + at : mixed;
  }
  return 0;
}

std::vector<float> row_of(Order order, int64_t n) {
  std::vector<float> x;
  for (int64_t i = 0; i < n; ++i) x.push_back(element(order, i, n));
  return x;
}

/// Whether p is before q, in ascending order.
bool before(float p, float q) { return std::isnan(q) ? !std::isnan(p) : p < q; }

std::vector<int64_t> positions(const std::vector<float>& x, bool descending) {
  std::vector<int64_t> at(x.size());
  std::iota(at.begin(), at.end(), 0);
  std::sort(at.begin(), at.end(), [&](int64_t a, int64_t b) {
    const float p = x[static_cast<size_t>(a)], q = x[static_cast<size_t>(b)];
    if (before(p, q) || before(q, p)) return descending ? before(q, p) : before(p, q);
    return a < b;
  });
  return at;
}

/// The bits of elements at the places `first` to `first + count` - 1 of `at`.
std::vector<uint32_t> bits_at(const std::vector<float>& x, const std::vector<int64_t>& at, int64_t first,
                              int64_t count) {
  std::vector<uint32_t> out;
  for (int64_t i = first; i < first + count; ++i)
    out.push_back(std::bit_cast<uint32_t>(x[static_cast<size_t>(at[static_cast<size_t>(i)])]));
  return out;
}
std::vector<uint32_t> bits_of(const Tensor& t) {
  const runtime::Array a = value_of(t);
  const auto bits = a.as<uint32_t>();
  return {bits.begin(), bits.end()};
}

}  // namespace

TEST_CASE("sorted elements have the bits of those at the positions", "[tensor]") {
  for (const int64_t n : {7, 65, 5000, 40000})
    for (const bool descending : {false, true})
      for (const Order order : kOrders) {
        INFO(n << " in order " << static_cast<int>(order) << (descending ? " descending" : ""));
        const std::vector<float> x = row_of(order, n);
        const std::vector<int64_t> at = positions(x, descending);
        CHECK(bits_of(sort(from(x), 0, descending).values) == bits_at(x, at, 0, n));
        CHECK(bits_of(topk(from(x), n / 3, 0, descending).values) == bits_at(x, at, 0, n / 3));
      }
}

TEST_CASE("a run that lies in no cache is sorted bucket by bucket", "[tensor]") {
  if (default_device() != Device::cpu()) SKIP_TEST("the default device is a GPU");
  constexpr int64_t kLong = 300'007;  // also of two threads each has a long run
  for (const Order order : kOrders) {
    INFO("order " << static_cast<int>(order));
    const std::vector<float> x = row_of(order, kLong);
    const std::vector<int64_t> at = positions(x, false);
    CHECK(bits_of(sort(from(x)).values) == bits_at(x, at, 0, kLong));
    CHECK(argsort(from(x).to(float64)).to_vector<int64_t>() == at);
    const Ranked both = sort(from(x));
    realize(both.values, both.indices);
    CHECK(both.indices.to_vector<int64_t>() == at);
    CHECK(bits_of(both.values) == bits_at(x, at, 0, kLong));
  }
}

TEST_CASE("elements of every type are sorted without positions", "[tensor]") {
  ON_BOTH_EXECUTORS();
  for (const DType dtype : {boolean, uint8, int8, int16, int32, int64, float16, bfloat16, float64})
    for (const int64_t n : {50, 300})
      for (const Order order : {Order::Mixed, Order::Special}) {
        INFO(name_of(dtype) << " " << n << " in order " << static_cast<int>(order));
        const Tensor x = from(row_of(order, 2 * n), {2, n}).to(dtype), at = argsort(x, 1, true);
        at.realize();
        CHECK(value_of(sort(x, 1, true).values).data == value_of(take_along_dim(x, at, 1)).data);
      }
}

TEST_CASE("ranks of a long row are found whatever a sample of it says", "[tensor]") {
  if (default_device() != Device::cpu()) SKIP_TEST("the default device is a GPU");
  for (const int64_t n : {65535, 65536, 70001})
    for (const Order order : kOrders) {
      INFO(n << " in order " << static_cast<int>(order));
      const std::vector<float> x = row_of(order, n);
      const std::vector<int64_t> up = positions(x, false), down = positions(x, true);
      const Ranked top = topk(from(x), 100), low = topk(from(x), n / 16, 0, false);
      realize(top.values, top.indices);
      CHECK(bits_of(top.values) == bits_at(x, down, 0, 100));
      CHECK(top.indices.to_vector<int64_t>() == std::vector<int64_t>(down.begin(), down.begin() + 100));
      CHECK(bits_of(low.values) == bits_at(x, up, 0, n / 16));
      CHECK(bits_of(kthvalue(from(x), n / 2).values) == bits_at(x, up, n / 2 - 1, 1));
      CHECK(bits_of(kthvalue(from(x), n).values) == bits_at(x, up, n - 1, 1));
      CHECK(kthvalue(from(x).to(float64), n / 2).indices.item<int64_t>() == up[static_cast<size_t>(n / 2 - 1)]);
    }
}

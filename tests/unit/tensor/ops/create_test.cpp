// Creation, and the types and shapes that it gives.
#include <limits>
#include <type_traits>

#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

TEST_CASE("tensors from data keep type, shape and order", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor nested = from({{1, 2, 3}, {4, 5, 6}});
  CHECK(nested.dtype() == int64);
  CHECK(nested.shape() == Shape{2, 3});
  CHECK(numbers(nested) == list({1, 2, 3, 4, 5, 6}));
  CHECK(from({1.5, 2.0}).dtype() == float32);
  CHECK(from({{true}, {false}}).dtype() == boolean);
  CHECK(from({1, 2.5}).dtype() == float32);
  CHECK(from({1, 2}, uint8).dtype() == uint8);
  CHECK(numbers(from({{{1}}, {{2}}})).size() == 2);
  CHECK(from({}).shape() == Shape{0});
  CHECK(from({0.1}, float64).dtype() == float64);
  CHECK(numbers(from({0.1}, float64)) == list({0.1}));
  CHECK(from(std::vector<double>{1, 2}).dtype() == float64);
  CHECK(numbers(from(std::vector<bool>{true, false, true})) == list({1, 0, 1}));
  const int32_t raw[] = {7, -8, 9, 10};
  CHECK(numbers(from(raw, {2, 2})) == list({7, -8, 9, 10}));
  CHECK(numbers(from_bytes(raw, int32, {4})) == list({7, -8, 9, 10}));
  CHECK(numbers(ones_like(from(raw, {2, 2}))) == list({1, 1, 1, 1}));
  CHECK(empty_like(from(raw, {2, 2})).dtype() == int32);
  CHECK(Tensor(2.5).dtype() == float32);
  CHECK(Tensor(2).dtype() == int64);
  CHECK(Tensor(true).dtype() == boolean);
  CHECK(Tensor(2.5f).shape() == Shape{});
}

namespace {

/// The least, a middle and the largest number of T, by every way in and out.
template <class T>
void check_integer(DType dtype) {
  INFO(name_of(dtype) << " of " << sizeof(T) << " bytes");
  const std::vector<T> values{std::numeric_limits<T>::min(), T{7}, std::numeric_limits<T>::max()};
  CHECK(dtype_of<T>::value == dtype);
  const Tensor t = from(values);
  CHECK(t.dtype() == dtype);
  CHECK(t.to_vector<T>() == values);
  const Tensor again = from(values.data(), Shape{3}), column = from(values, Shape{3, 1});
  CHECK(again.to_vector<T>() == values);
  CHECK(column.to_vector<T>() == values);
  for (T v : values) {
    const Tensor filled = full({2}, v, dtype)[1], like = full_like(t, v), one = Tensor(v).to(dtype),
                 argument = number(v, dtype), met = (t == v).any();
    CHECK(filled.item<T>() == v);
    CHECK(like.to_vector<T>() == std::vector<T>(3, v));
    CHECK(one.item<T>() == v);
    CHECK(argument.item<T>() == v);
    CHECK(met.item<bool>());
  }
}

}  // namespace

TEST_CASE("every C++ integer makes tensors and reads them", "[tensor]") {
  check_integer<char>(std::is_signed_v<char> ? int8 : uint8);
  check_integer<signed char>(int8);
  check_integer<unsigned char>(uint8);
  check_integer<short>(int16);
  check_integer<unsigned short>(uint16);
  check_integer<int>(int32);
  check_integer<unsigned>(uint32);
  check_integer<long>(sizeof(long) == 8 ? int64 : int32);
  check_integer<unsigned long>(sizeof(long) == 8 ? uint64 : uint32);
  check_integer<long long>(int64);
  check_integer<unsigned long long>(uint64);
  static_assert(Element<bool> && Element<float> && Element<double>);
  static_assert(!Element<wchar_t> && !Element<char16_t> && !Element<const int> && !Element<long double>);
}

TEST_CASE("patterns", "[tensor]") {
  ON_BOTH_EXECUTORS();
  CHECK(numbers(zeros({2, 2})) == list({0, 0, 0, 0}));
  CHECK(numbers(ones({2}, int32)) == list({1, 1}));
  CHECK(full({2}, 3).dtype() == int64);
  CHECK(full({2}, 3.0).dtype() == float32);
  CHECK(full({2}, 3, float64).dtype() == float64);
  CHECK(numbers(full({1}, -128.0, int8)) == list({-128}));  // a whole number, though it is written as a float
  CHECK(numbers(full({1}, 2.5, boolean)) == list({1}));
  CHECK(numbers(full({2}, Tensor(4))) == list({4, 4}));
  CHECK(zeros_like(ones({3}, uint8)).dtype() == uint8);
  CHECK(numbers(full_like(ones({2}), 7.5)) == list({7.5, 7.5}));
  CHECK(numbers(arange(4)) == list({0, 1, 2, 3}));
  CHECK(arange(4, float32).dtype() == float32);
  CHECK(numbers(arange(2, 9, 3)) == list({2, 5, 8}));
  CHECK(numbers(arange(5, 0, -2)) == list({5, 3, 1}));
  CHECK(numbers(arange(5, 5)).empty());
  CHECK(numbers(arange(3, 0)).empty());
  CHECK(close(numbers(arange(0, 1, 0.25)), {0, 0.25, 0.5, 0.75}));
  CHECK(arange(0, 1, 0.1).shape() == Shape{10});
  CHECK(numbers(arange(0, 1, 0.1))[7] == static_cast<float>(0.7));
  CHECK(numbers(linspace(0, 1, 5)) == list({0, 0.25, 0.5, 0.75, 1}));
  CHECK(numbers(linspace(-1, 0.3, 11, float64)).back() == 0.3);
  CHECK(numbers(linspace(3, 4, 1)) == list({3}));
  CHECK(numbers(logspace(-1, 2, 4, 10, float64)) == list({0.1, 1, 10, 100}));
  CHECK(numbers(logspace(0, 3, 4, 2, int32)) == list({1, 2, 4, 8}));
  CHECK(numbers(logspace(2, 9, 1)) == list({100}));
  CHECK_THROWS_WITH(logspace(0, 1, -1), Catch::StartsWith("logspace: ") && Catch::Contains("-1"));
  CHECK(numbers(linspace(0.5, 2.5, 2, int32)) == list({0, 2}));
  CHECK(numbers(linspace(0.5, 2.5, 1, int32)) == list({0}));
  CHECK(numbers(linspace(0.5, 2.5, 0, int32)).empty());
  CHECK(numbers(eye(2, 3)) == list({1, 0, 0, 0, 1, 0}));
  CHECK(numbers(eye(2)) == list({1, 0, 0, 1}));
  CHECK(numbers(number(0.5)) == list({0.5}));
}

TEST_CASE("creation frees what nobody holds", "[tensor]") {
  ir::TensorGraph& g = ir::TensorGraph::get();
  const size_t nodes = g.live_nodes();
  const uint64_t buffers = runtime::live_buffers();
  {
    Tensor x = from({1.0, 2.0, 3.0});
    Tensor y = x * 2 + x;
    CHECK(runtime::live_buffers() == buffers + 1);
  }
  CHECK(g.live_nodes() == nodes);
  CHECK(runtime::live_buffers() == buffers);
}

TEST_CASE("numbers above the largest int64", "[tensor]") {
  constexpr uint64_t top = ~uint64_t{0}, half = uint64_t{1} << 63;
  using U64 = std::vector<uint64_t>;
  CHECK(full({2}, top).to_vector<uint64_t>() == U64{top, top});
  CHECK(Tensor(top).item<uint64_t>() == top);
  CHECK(Tensor(uint64_t{5}).dtype() == int64);
  CHECK((from(U64{0, 1}) + top).to_vector<uint64_t>() == U64{top, 0});
  CHECK(from({half, top}, uint64).to_vector<uint64_t>() == U64{half, top});
  CHECK((from({1.5}) * half).item() == 1.5 * 0x1p63);
  CHECK((from({true, false}) + top).dtype() == uint64);
  CHECK_THROWS_WITH(from({1}) + top, Catch::Contains("18446744073709551615") && Catch::Contains("int64"));
  CHECK_THROWS_WITH(arange(0, top), Catch::Contains("18446744073709551615"));
  CHECK_THROWS_WITH(arange(4)[top], Catch::Contains("18446744073709551615"));
  CHECK(from(U64{half}).item() == 0x1p63);
  CHECK(from(U64{top}).item() == 0x1p64);
}

TEST_CASE("arange over all of int64", "[tensor]") {
  ON_BOTH_EXECUTORS();
  CHECK(numbers(arange(0, 10, INT64_MAX)) == list({0}));
  CHECK(arange(INT64_MIN, INT64_MAX, INT64_MAX).to_vector<int64_t>() ==
        std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1});
  CHECK(arange(INT64_MAX, INT64_MIN, INT64_MIN).to_vector<int64_t>() == std::vector<int64_t>{INT64_MAX, -1});
  CHECK(arange(5, 5, INT64_MIN).shape() == Shape{0});
  CHECK(numbers(arange(7).slice(0, {.step = INT64_MIN})) == list({6}));
  CHECK(numbers(arange(7).slice(0, {INT64_MIN, INT64_MAX, INT64_MAX})) == list({0}));
}

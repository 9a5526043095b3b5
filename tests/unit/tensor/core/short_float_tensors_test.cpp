// float16 and bfloat16 as tensors: made, met, computed with, read, printed, saved, differentiated.
#include <cstring>
#include <filesystem>
#include <limits>

#include "ir/short_float.h"
#include "sinter/nn/state.h"
#include "tensor/core/print.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// What a type makes of numbers.
std::vector<double> rounded(DType dtype, std::vector<double> values) {
  for (double& v : values) v = ir::Scalar::of(dtype, v).as_double();
  return values;
}
std::vector<double> some_numbers() {
  std::vector<double> out;
  for (int i = -40; i < 40; ++i) out.push_back(std::ldexp(i * 1.37 + 0.1, i / 6));
  return out;
}
Tensor of(DType dtype, const std::vector<double>& values) { return from(values).to(dtype); }

}  // namespace

TEST_CASE("16-bit floats are made, cast and read", "[short][tensor]") {
  ON_BOTH_EXECUTORS();
  const DType t = GENERATE(float16, bfloat16);
  const std::vector<double> values = some_numbers();
  const Tensor x = of(t, values);
  CHECK(x.dtype() == t);
  CHECK(numbers(x) == rounded(t, values));
  CHECK(numbers(x.to(float32)) == rounded(t, values));
  CHECK(numbers(x.to(float64)) == rounded(t, values));
  const DType other = t == float16 ? bfloat16 : float16;
  CHECK(numbers(x.to(other)) == rounded(other, rounded(t, values)));
  CHECK(numbers(from({1.1, -2.5, 70000}, t)) == rounded(t, {1.1, -2.5, 70000}));
  CHECK(numbers(from({1.1, 70000}, float16)) == list({1.099609375, kInf}));
  CHECK(numbers(full({2}, 0.1, t)) == rounded(t, {0.1, 0.1}));
  CHECK(numbers(arange(5, t)) == list({0, 1, 2, 3, 4}));
  CHECK(numbers(linspace(0, 1, 5, t)) == list({0, 0.25, 0.5, 0.75, 1}));
  CHECK(numbers(zeros({2}, t)) == list({0, 0}));
  for (DType kind : {int8, int64, uint8, uint64}) {
    CHECK(numbers(from({0, 3, 100}).to(kind).to(t)) == list({0, 3, 100}));
    CHECK(numbers(of(t, {0, 3.75, 100}).to(kind)) == list({0, 3, 100}));
  }
  CHECK(numbers(of(t, {-1e9, 1e9, std::nan("")}).to(int8)) == list({-128, 127, 0}));
  CHECK(numbers(of(t, {0, -0.0, 6e-8}).to(boolean)) == list({0, 0, 1}));
  CHECK(numbers(from({true, false}).to(t)) == list({1, 0}));
  CHECK(numbers(from({int64_t{1} << 62, int64_t{65519}}).to(t)) == rounded(t, {0x1p62, 65519}));
  // Read as the floats that they are.
  const std::vector<float> read = x.to_vector<float>();
  CHECK(std::vector<double>(read.begin(), read.end()) == rounded(t, values));
  CHECK(x[3].item<float>() == static_cast<float>(rounded(t, values)[3]));
  CHECK(x[3].item() == rounded(t, values)[3]);
  CHECK_THROWS_AS(x.to_vector<double>(), UsageError);
  CHECK_THROWS_AS(x.to_vector<uint16_t>(), UsageError);
  // And as bytes.
  const std::vector<std::byte> bytes = x.to_bytes();
  REQUIRE(bytes.size() == 2 * values.size());
  CHECK(numbers(from_bytes(bytes.data(), bytes.size(), t, x.shape())) == rounded(t, values));
  CHECK(from({258}, uint16).to_bytes() == std::vector<std::byte>{std::byte{2}, std::byte{1}});
  CHECK(from({true, false}).to_bytes() == std::vector<std::byte>{std::byte{1}, std::byte{0}});
}

TEST_CASE("every op on 16-bit floats is computed in float32 and rounded once", "[short][tensor]") {
  ON_BOTH_EXECUTORS();
  const DType t = GENERATE(float16, bfloat16);
  const Tensor x = of(t, some_numbers()), y = x.flip({0}) + 0.3, wide = x.to(float32), other = y.to(float32);
  auto once = [&](const Tensor& got, const Tensor& want) {
    CHECK(got.dtype() == t);
    CHECK(same(numbers(got), numbers(want.to(t))));
  };
  CHECK((x + 2).dtype() == t);
  once(x + y, wide + other);
  once(x - y, wide - other);
  once(x * y, wide * other);
  once(x / y, wide / other);
  once(x % y, wide % other);
  once(-x, -wide);
  once(sqrt(abs(x)), sqrt(abs(wide)));
  once(exp(x), exp(wide));
  once(tanh(x), tanh(wide));
  once(pow(abs(x), y), pow(abs(wide), other));
  once(maximum(x, y), maximum(wide, other));
  once(where(x < y, x, y), where(wide < other, wide, other));
  once(floor(x), floor(wide));
  once(floor_divide(x, y), floor_divide(wide, other));
  CHECK(numbers(x < y) == numbers(wide < other));
  CHECK(numbers(x == x) == numbers(wide == wide));
  // Each op rounds: not the chain as a whole.
  once((x + y) * y, (wide + other).to(t).to(float32) * other);
  // Functions of several ops are one, so they round once.
  once(sigmoid(x), sigmoid(wide));
  once(gelu(y), gelu(other));
  once(softmax(x, 0), softmax(wide, 0));
  once(log_softmax(x, 0), log_softmax(wide, 0));
  once(layer_norm(x, {80}), layer_norm(wide, {80}));
  once(x.mean(), wide.mean());
  once(x.std(), wide.std());
}

TEST_CASE("sums of 16-bit floats go on in float32", "[short][tensor]") {
  ON_BOTH_EXECUTORS();
  const DType t = GENERATE(float16, bfloat16);
  // One by one in the type, the sum would stay where the spacing is 2: at 2048, or at 256.
  CHECK(numbers(ones({5000}, t).sum()) == rounded(t, {5000}));
  CHECK(numbers(ones({300, 2}, t).mean(0)) == list({1, 1}));
  CHECK(numbers(cumsum(ones({600}, t), 0)[599]) == rounded(t, {600}));
  CHECK(numbers(scatter_add(zeros({2}, t), 0, zeros({600}, int64), ones({600}, t))) == rounded(t, {600, 0}));
  // Squares beyond float16's range are no infinity on the way.
  CHECK(numbers((full({4}, 300.0, t) / 1).std(all_axes, 0)) == list({0}));
  CHECK(numbers(rms_norm(full({1, 4}, 512.0, t), {4})) == list({1, 1, 1, 1}));
  // Products too: each is exact.
  const Tensor a = of(t, {256, 1, -256}), b = of(t, {256, 1, 256});
  CHECK(numbers(dot(a, b)) == list({1}));
  CHECK(numbers(matmul(a.reshape({1, 3}), b.reshape({3, 1}))) == list({1}));
  CHECK(numbers(einsum("i,i->", {a, b})) == list({1}));
  CHECK(numbers(conv1d(a.reshape({1, 1, 3}), b.reshape({1, 1, 3}))) == list({1}));
  CHECK(numbers(a.max()) == list({256}));
  CHECK(numbers(a.argmax()) == list({0}));
  CHECK(numbers(ones({3, 4}, t).prod(1)) == list({1, 1, 1}));
  CHECK(matmul(a.reshape({1, 3}), b.reshape({3, 1})).dtype() == t);
}

TEST_CASE("16-bit floats print with the digits that tell them apart", "[short][tensor]") {
  CHECK(from({0.1, 1.0 / 3, 100}, float16).to_string() == "[  0.1      0.3333 100.    ]");
  CHECK(from({0.1, 1.0 / 3, 100}, bfloat16).to_string() == "[  0.1     0.334 100.   ]");
  CHECK(from({65504, 6e-8}, float16).to_string() == "[6.55e+04 5.96e-08]");
  CHECK(from({0.0, -0.0, kInf, std::nan("")}, float16).to_string() == "[ 0. -0. inf nan]");
  CHECK(full({}, 0.7, float16).to_string() == "0.7");
  CHECK(full({}, 3e38, bfloat16).to_string() == "3e+38");
}

TEST_CASE("16-bit floats go to safetensors and back", "[short][tensor]") {
  const auto file = std::filesystem::temp_directory_path() / "sinter_short_float_test.safetensors";
  const Tensor half = from({1.1, -2.2}, float16), brain = from({{1.1, 3e38}}, bfloat16);
  nn::save({{"half", half}, {"brain", brain}}, file);
  for (const auto& [name, t] : nn::load_file(file)) {
    const Tensor& want = name == "half" ? half : brain;
    CHECK(t.dtype() == want.dtype());
    CHECK(t.shape() == want.shape());
    CHECK(t.to_bytes() == want.to_bytes());
  }
  std::filesystem::remove(file);
}

TEST_CASE("16-bit floats have gradients in their own type", "[short][tensor]") {
  ON_BOTH_EXECUTORS();
  const DType t = GENERATE(float16, bfloat16);
  Tensor w = of(t, {0.5, -1.5, 2, 0.25}).reshape({2, 2}).clone();
  w.requires_grad();
  const Tensor x = of(t, {1, 2, 3, 4}).reshape({2, 2});
  const Tensor loss = square(matmul(x, w)).sum();
  CHECK(loss.dtype() == t);
  loss.backward();
  CHECK(w.grad().dtype() == t);
  // 2 x^T (x w), small enough to be exact.
  CHECK(numbers(w.grad()) == list({66, -23, 94, -32}));
  // A sum over what was repeated goes on in float32 as well.
  Tensor b = zeros({1}, t).clone();
  b.requires_grad();
  (b + ones({600}, t)).sum().backward();
  CHECK(numbers(b.grad()) == rounded(t, {600}));
}

TEST_CASE("random 16-bit floats are below 1 and spread", "[short][tensor]") {
  ON_BOTH_EXECUTORS();
  const DType t = GENERATE(float16, bfloat16);
  Generator generator(3);
  const Tensor x = rand({2000}, {.dtype = t, .generator = &generator}),
               y = randn({2000}, {.dtype = t, .generator = &generator});
  CHECK(x.dtype() == t);
  CHECK(x.to(float32).max().item() < 1);
  CHECK(x.to(float32).min().item() >= 0);
  CHECK(std::abs(x.to(float32).mean().item() - 0.5) < 0.02);
  CHECK(y.dtype() == t);
  CHECK(std::abs(y.to(float32).mean().item()) < 0.08);
  CHECK(std::abs(y.to(float32).std().item() - 1) < 0.05);
}

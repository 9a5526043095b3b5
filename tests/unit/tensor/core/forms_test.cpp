// Calls in the forms that PyTorch's users write: one integer as a shape, a bound alone, tied results, "...".
#include <sstream>
#include <tuple>

#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

TEST_CASE("one integer is a shape of one axis", "[tensor]") {
  CHECK(zeros(3).shape() == Shape{3});
  CHECK(rand(4).shape() == Shape{4});
  CHECK(full(2, 7).to_vector<int64_t>() == std::vector<int64_t>{7, 7});
  const Tensor x = arange(6).reshape({2, 3});
  CHECK(x.view(-1).shape() == Shape{6});
  CHECK(zeros(x.size(1)).shape() == Shape{3});
  CHECK(empty(5, int32).dtype() == int32);
  CHECK(empty_like(x).shape() == x.shape());
}

TEST_CASE("item() converts to the type asked for, or says why not", "[tensor]") {
  ON_BOTH_EXECUTORS();
  CHECK(full({}, 2.5).item<double>() == 2.5);
  CHECK(full({}, 2.0).item<int>() == 2);
  CHECK(full({}, 3, int64).item<int>() == 3);
  CHECK(full({}, 3, int8).item<float>() == 3.0f);
  CHECK(full({}, 0.1, float64).item<float>() == 0.1f);
  CHECK(full({}, 1.5, bfloat16).item<float>() == 1.5f);
  CHECK(full({}, ~uint64_t{0}, uint64).item<uint64_t>() == ~uint64_t{0});
  CHECK(full({}, true).item<int>() == 1);
  CHECK(full({}, 0.25).item<bool>());
  CHECK_THROWS_WITH(full({}, 2.5).item<int>(), Contains("item") && Contains("2.5") && Contains("int32"));
  CHECK_THROWS_WITH(full({}, int64_t{1} << 40).item<int>(), Contains("1099511627776") && Contains("int32"));
  CHECK_THROWS_WITH(full({}, -1, int64).item<uint8_t>(), Contains("-1") && Contains("0 to 255"));
  CHECK_THROWS_AS(full({}, NAN).item<int>(), UsageError);
  CHECK_THROWS_AS(full({}, 0x1p63, float64).item<int64_t>(), UsageError);
  CHECK_THROWS_AS(full({}, ~uint64_t{0}, uint64).item<int64_t>(), UsageError);
}

TEST_CASE("values and indices can be tied, from methods and functions", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{1.0, 5.0, 2.0}, {7.0, 0.0, 3.0}});
  Tensor values, indices;
  std::tie(values, indices) = x.max(1);
  CHECK(numbers(values) == list({5.f, 7.f}));
  CHECK(indices.to_vector<int64_t>() == std::vector<int64_t>{1, 0});
  std::tie(values, indices) = min(x, 0);
  CHECK(numbers(values) == list({1.f, 0.f, 2.f}));
  CHECK(indices.to_vector<int64_t>() == std::vector<int64_t>{0, 1, 0});
  std::tie(values, indices) = topk(x, 2);
  CHECK(numbers(values) == list({5.f, 2.f, 7.f, 3.f}));
  CHECK(numbers(max(x, x * 0.0 + 2.5)) == list({2.5f, 5.f, 2.5f, 7.f, 2.5f, 3.f}));
  CHECK(numbers(min(x, x.flip(0))) == list({1.f, 0.f, 2.f, 1.f, 0.f, 2.f}));
  CHECK(max(x).item() == 7);
  CHECK(numbers(max(x, {0})) == list({7.f, 5.f, 3.f}));
  CHECK(max(x, {0, 1}).item() == 7);
}

TEST_CASE("names of libtorch", "[tensor]") {
  const Tensor x = from({{1.0, -2.0}, {3.0, 4.0}}), y = zeros({2, 2});
  CHECK(numbers(x.max(y)) == list({1, 0, 3, 4}));
  CHECK(numbers(x.min(y)) == list({0, -2, 0, 0}));
  CHECK_THROWS_WITH(x.max(zeros({3})), Catch::StartsWith("maximum: ") && Contains("[3]"));
  CHECK(numbers(clamp(x, 0, std::nullopt)) == list({1, 0, 3, 4}));
  CHECK(numbers(clip(x, 0, std::nullopt)) == list({1, 0, 3, 4}));
  CHECK(x.ndimension() == 2);
  CHECK(x.nelement() == 4);
  CHECK_THROWS_WITH(Tensor().nelement(), Catch::StartsWith("nelement: "));
  CHECK_THROWS_WITH(Tensor().ndimension(), Catch::StartsWith("ndimension: "));
  CHECK(linalg::norm(x).item() == Approx(std::sqrt(30.0)));
  CHECK(numbers(linalg::norm(x, 1, 0)) == list({4, 6}));
  CHECK(linalg::norm(x, "fro").item() == Approx(std::sqrt(30.0)));
  CHECK(numbers(linalg::matrix_power(x, 2)) == numbers(matmul(x, x)));
}

TEST_CASE("one bound, one slice, dots", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = arange(12).reshape({3, 4});
  const auto ints = [](const Tensor& t) { return t.to_vector<int64_t>(); };
  CHECK(ints(clamp(x, 9)) == ints(clamp_min(x, 9)));
  CHECK(ints(x.clamp(9)) == ints(clamp_min(x, 9)));
  CHECK(ints(clamp(x, std::nullopt, 4)) == ints(clamp_max(x, 4)));
  CHECK(ints(x.clamp(std::nullopt, 4)) == ints(clamp_max(x, 4)));
  CHECK(ints(x.slice(1, 1, 3)) == ints(x.slice(1, {1, 3})));
  CHECK(ints(x.slice(1, 0, std::nullopt, 2)) == ints(x.slice(1, {0, {}, 2})));
  CHECK(ints(x.index({"...", 2})) == std::vector<int64_t>{2, 6, 10});
  CHECK_THROWS_WITH(x.index({"..", 2}), Contains("\"..\"") && Contains("\"...\""));
  const std::vector<Tensor> places = where(x % 5 == 0);
  REQUIRE(places.size() == 2);
  CHECK(ints(places[0]) == std::vector<int64_t>{0, 1, 2});
  CHECK(ints(places[1]) == std::vector<int64_t>{0, 1, 2});
  CHECK(ints(x.index({places[0], places[1]})) == std::vector<int64_t>{0, 5, 10});
  CHECK(arange(2, 5, float32).dtype() == float32);
  CHECK(x.sizes() == x.shape());
  CHECK(x.dim() == 2);
  CHECK(ints(x.mT()) == ints(x.transpose()));
  std::ostringstream text;
  text << topk(from({1, 3, 2}), 2);
  CHECK(text.str() == "[3 2]\n[1 2]");
}

template <class T>
concept ReducesAlongBool = requires(T x) { x.sum(true); } || requires(T x) { x.max(true); } ||
                           requires(T x) { x.sort(true); } || requires(T x) { x.argsort(true); };
template <class T>
concept WritesTemporary =
    requires(T x) { x[0] = 1.0; } || requires(T x) { x[0] += 1.0; } || requires(T x) { x.view(-1) *= x; };

template <class T>
concept GivesStrideByPlace = requires(T x) { conv2d(x, x, x, {2, 2}); } || requires(T x) {
  conv_transpose1d(x, x, x, {2});
} || requires(T x) { max_pool2d(x, 2, {2, 2}); } || requires(T x) { avg_pool2d(x, {2, 2}, {1, 1}); };
template <class T>
concept TrainsByBool = requires(T x) { batch_norm(x, x, x, x, x, true); };

TEST_CASE("what would mean something else than in PyTorch does not compile", "[tensor]") {
  STATIC_REQUIRE_FALSE(ReducesAlongBool<Tensor>);
  STATIC_REQUIRE_FALSE(GivesStrideByPlace<Tensor>);
  STATIC_REQUIRE_FALSE(TrainsByBool<Tensor>);
  STATIC_REQUIRE_FALSE(WritesTemporary<Tensor>);
  CHECK_THROWS_WITH(distributions::Categorical({}), Contains("neither") && Contains(".probs"));
  const Tensor p = from({0.25, 0.75});
  CHECK_THROWS_WITH(distributions::Bernoulli({.logits = p, .probs = p}), Contains("both"));
  CHECK(distributions::Categorical({.probs = p}).probs().slice(0, 1, 2).item() == Approx(0.75));
}

TEST_CASE("a convolution without a bias takes options", "[tensor]") {
  const Tensor x = ones({1, 1, 3, 3}), w = ones({1, 1, 3, 3});
  CHECK(conv2d(x, w, {.padding = 1}).shape() == Shape{1, 1, 3, 3});
  CHECK(conv1d(x[0], w[0], {.stride = 2}).shape() == Shape{1, 1, 1});
  CHECK(conv3d(x.unsqueeze(0), w.unsqueeze(0), {.padding = 2}).shape() == Shape{1, 1, 5, 5, 5});
  CHECK(conv_transpose1d(x[0], w[0].transpose(0, 1), {.stride = 2}).shape() == Shape{1, 1, 7});
  CHECK(conv_transpose2d(x, w, {.stride = {2, 1}}).shape() == Shape{1, 1, 7, 5});
  CHECK(conv_transpose3d(x.unsqueeze(0), w.unsqueeze(0), {.stride = 2}).shape() == Shape{1, 1, 1, 7, 7});
}

TEST_CASE("a type and a device at once, or those of another tensor", "[tensor]") {
  const Tensor x = from({1.5, 2.5}), like = zeros(1, int32);
  CHECK(x.to(like).dtype() == int32);
  CHECK(x.to(Device::cpu(), float64).dtype() == float64);
  CHECK(softmax(from({1, 2}), 0, float64).dtype() == float64);
  CHECK(log_softmax(zeros(2, float16), 0, float32).dtype() == float32);
  CHECK(vector_norm(from({3, 4}), 2, all_axes, false, float64).item() == 5);
  CHECK(linalg_norm(from({0, 3, 4}), 0).item() == 2);  // not a word
  CHECK_THROWS_WITH(softmax(x, 0, int32), Contains("softmax") && Contains("int32"));
}

TEST_CASE("forms that write in place", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor mask = from({true, false, true, false});
  mask |= from({true, true, false, false});
  CHECK(mask.to_vector<bool>() == std::vector<bool>{true, true, true, false});
  mask &= from({true, false, false, true});
  CHECK(mask.to_vector<bool>() == std::vector<bool>{true, false, false, false});
  Tensor bits = from({6, 5});
  bits ^= 3;
  CHECK(bits.to_vector<int64_t>() == std::vector<int64_t>{5, 6});
  Tensor x = from({-2.0, 0.5, 3.0});
  CHECK(numbers(x.clamp_min_(-1).clamp_max_(1).abs_()) == list({1.f, 0.5f, 1.f}));
  CHECK(numbers(x.log_()) == numbers(log(from({1.0, 0.5, 1.0}))));
  CHECK(numbers(x.sigmoid_().tanh_()) == numbers(tanh(sigmoid(log(from({1.0, 0.5, 1.0}))))));
  Tensor m = ones({2, 3});
  m.fill_diagonal_(0);
  CHECK(numbers(m) == list({0.f, 1.f, 1.f, 1.f, 0.f, 1.f}));
  CHECK_THROWS_WITH(x.fill_diagonal_(0), Contains("fill_diagonal_") && Contains("[3]"));
  Generator one(3), two(3);
  Tensor drawn = zeros({2, 2}, float64);
  drawn.uniform_(-1, 1, &one);
  CHECK(numbers(drawn) == numbers(uniform(-1, 1, {2, 2}, {.dtype = float64, .generator = &two})));
  drawn.normal_(2, 0.5, &one);
  CHECK(numbers(drawn) == numbers(normal(2, 0.5, {2, 2}, {.dtype = float64, .generator = &two})));
}

TEST_CASE("gradients of values that are no leaves, and history inside no_grad", "[tensor][gradient]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from({1.0, 2.0});
  x.requires_grad_();
  Tensor y = x * 3.0;
  y.retain_grad();
  x.retain_grad();
  (y * y).sum().backward(true);
  CHECK(numbers(y.grad()) == list({6.f, 12.f}));
  CHECK(numbers(x.grad()) == list({18.f, 36.f}));
  y.sum().backward();
  CHECK(numbers(y.grad()) == list({7.f, 13.f}));
  CHECK_THROWS_WITH(zeros(2).retain_grad(), Contains("retain_grad") && Contains("requires grad"));
  const no_grad off;
  CHECK_FALSE((x * 2.0).needs_grad());
  {
    const enable_grad on;
    CHECK((x * 2.0).needs_grad());
  }
  CHECK_FALSE((x * 2.0).needs_grad());
}

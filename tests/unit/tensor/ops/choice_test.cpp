// Options given by PyTorch's words, and calls in the forms of its other arguments.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

/// Each word is its value; another is an error that lists them all and has the caller's place.
template <class E>
void check_words(const char* name, std::initializer_list<std::pair<const char*, E>> words) {
  for (const auto& [word, value] : words) {
    INFO(word);
    CHECK(Choice<E>(word) == value);
    CHECK(Choice<E>(std::string(word)) == value);
    CHECK(Choice<E>(value) == value);
  }
  try {
    Choice<E>("bilinaer");
    FAIL_CHECK("accepted");
  } catch (const UsageError& e) {
    const std::string text = e.what();
    INFO(text);
    CHECK(text.starts_with("\"bilinaer\" is no " + std::string(name) + "; give one of "));
    for (const auto& [word, value] : words) CHECK(text.find("\"" + std::string(word) + "\"") != std::string::npos);
    CHECK(std::string(e.where().file_name()).ends_with("choice_test.cpp"));
  }
}

bool equal_bits(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && same(numbers(a), numbers(b)); }

template <class T>
concept TakesNullAsWord = requires(T x) { Choice<PadMode>(x); };

}  // namespace

TEST_CASE("words of options", "[tensor]") {
  check_words<BagMode>("BagMode", {{"sum", BagMode::Sum}, {"mean", BagMode::Mean}, {"max", BagMode::Max}});
  check_words<Gelu>("Gelu", {{"none", Gelu::Exact}, {"tanh", Gelu::Tanh}});
  check_words<GridOrder>("GridOrder", {{"ij", GridOrder::IJ}, {"xy", GridOrder::XY}});
  check_words<GridPadding>(
      "GridPadding",
      {{"zeros", GridPadding::Zeros}, {"border", GridPadding::Border}, {"reflection", GridPadding::Reflection}});
  check_words<Interpolation>("Interpolation", {{"linear", Interpolation::Linear},
                                               {"lower", Interpolation::Lower},
                                               {"higher", Interpolation::Higher},
                                               {"nearest", Interpolation::Nearest},
                                               {"midpoint", Interpolation::Midpoint}});
  check_words<PadMode>("PadMode", {{"constant", PadMode::Constant},
                                   {"zeros", PadMode::Constant},
                                   {"reflect", PadMode::Reflect},
                                   {"replicate", PadMode::Replicate},
                                   {"circular", PadMode::Circular}});
  check_words<Reduction>("Reduction", {{"mean", Reduction::Mean}, {"sum", Reduction::Sum}, {"none", Reduction::None}});
  check_words<ResampleMode>("ResampleMode", {{"nearest", ResampleMode::Nearest},
                                             {"nearest-exact", ResampleMode::NearestExact},
                                             {"linear", ResampleMode::Linear},
                                             {"bilinear", ResampleMode::Bilinear},
                                             {"trilinear", ResampleMode::Trilinear},
                                             {"bicubic", ResampleMode::Bicubic},
                                             {"area", ResampleMode::Area}});
  check_words<RoundingMode>("RoundingMode", {{"trunc", RoundingMode::Trunc}, {"floor", RoundingMode::Floor}});
  check_words<ScatterReduce>("ScatterReduce", {{"sum", ScatterReduce::Sum},
                                               {"prod", ScatterReduce::Prod},
                                               {"mean", ScatterReduce::Mean},
                                               {"amax", ScatterReduce::Amax},
                                               {"amin", ScatterReduce::Amin}});
  STATIC_REQUIRE_FALSE(TakesNullAsWord<int>);
}

TEST_CASE("functions take words where they take an enum", "[tensor]") {
  const ScopedExecutor interpreted(debug::Executor::Interpreter);
  const Tensor x = from({{0.5, -1.0, 2.0}, {1.5, 0.25, -3.0}}), image = x.reshape({1, 1, 2, 3}), y = x.flip(1);
  CHECK(equal_bits(gelu(x, "tanh"), gelu(x, Gelu::Tanh)));
  CHECK(equal_bits(pad(x, {{1, 1}}, "reflect"), pad(x, {{1, 1}}, PadMode::Reflect)));
  CHECK(equal_bits(pad(x, {{1, 1}}, "constant", 7), x.pad({{1, 1}}, 7)));
  CHECK(equal_bits(interpolate(image, {.scale_factor = 2, .mode = "bilinear"}),
                   interpolate(image, {.scale_factor = 2, .mode = ResampleMode::Bilinear})));
  CHECK(equal_bits(mse_loss(x, y, {.reduction = "sum"}), mse_loss(x, y, Reduction::Sum)));
  CHECK(equal_bits(huber_loss(x, y, {.reduction = "none"}), huber_loss(x, y, {.reduction = Reduction::None})));
  CHECK(equal_bits(meshgrid({x[0], y[1]}, "xy")[1], meshgrid({x[0], y[1]}, GridOrder::XY)[1]));
  CHECK(equal_bits(quantile(x, 0.3, 1, false, "higher"), quantile(x, 0.3, 1, false, Interpolation::Higher)));
  CHECK(equal_bits(div(x, y, "trunc"), div(x, y, RoundingMode::Trunc)));
  CHECK(equal_bits(conv1d(x.unsqueeze(0), ones({1, 2, 2}), {.padding = 1, .padding_mode = "circular"}),
                   conv1d(x.unsqueeze(0), ones({1, 2, 2}), {.padding = 1, .padding_mode = PadMode::Circular})));
  const Tensor rows = from({{0, 1}, {1, 1}});
  CHECK(equal_bits(embedding_bag(rows, x, {}, {.mode = "max"}), embedding_bag(rows, x, {}, {.mode = BagMode::Max})));
  CHECK_THROWS_WITH(interpolate(image, {.scale_factor = 2, .mode = "cubic"}), Contains("\"cubic\" is no ResampleMode"));
}

TEST_CASE("forms of calls that PyTorch has", "[tensor]") {
  const ScopedExecutor interpreted(debug::Executor::Interpreter);
  const Tensor x = from({{0.5, -1.0, 0.5}, {1.5, 0.25, -3.0}}), y = x.flip(1);
  CHECK(equal_bits(pad(x, {{1, 0}, {0, 2}}, 3.0), x.pad({{1, 0}, {0, 2}}, 3.0)));
  CHECK(equal_bits(pad(x, {{1, 0}}, 0), x.pad({{1, 0}})));
  CHECK(equal_bits(einsum("ij,kj->ik", x, y), einsum("ij,kj->ik", {x, y})));
  CHECK(equal_bits(einsum("ij->j", x), x.sum(0)));
  CHECK_THROWS_WITH(einsum("ij,kj->ik", x, Tensor()), Catch::StartsWith("einsum: "));
  CHECK_THROWS_WITH(einsum("ij,j->i", x, ones({4})), Catch::StartsWith("einsum: ") && Contains("choice_test.cpp"));
  CHECK(equal_bits(sort(x, 1, true, true).values, sort(x, 1, true).values));
  CHECK(equal_bits(argsort(x, 1, true, false), argsort(x, 1, true)));
  const auto [values, inverse, counts] = unique(x, true, true, true);
  CHECK(equal_bits(values, unique(x).values));
  CHECK(equal_bits(inverse, unique(x).inverse));
  CHECK(equal_bits(counts, unique(x).counts));
  CHECK(equal_bits(x.unique(true, true).values, values));
}

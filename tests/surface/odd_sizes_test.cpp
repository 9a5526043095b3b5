// Each function on sizes that its row does not name: 0, 1, primes and rank 8.
#include <fmt/ranges.h>

#include <set>
#include <variant>

#include "surface/comparison.h"
#include "surface/odd_sizes.h"

using namespace sinter;
using namespace sinter::testing;
using namespace surface;

namespace {

/// Where a result or a refusal is meant to differ from PyTorch's.
struct Meant {
  const char* row;   ///< "family: name"
  const char* part;  ///< of the difference's text: SHAPES: result K..., or SHAPES: refused, ERROR
  const char* because;
};

constexpr const char *kOneShape = "broadcasting would hide a forgotten axis",
                     *kLastUpdate = "the last of several updates counts; PyTorch gives the gradient to all of them",
                     *kLayerSizes = "the layer has its sizes from when it was made",
                     *kStatistics = "there are no statistics of no values",
                     *kNoElements = "PyTorch returns what has no elements as it is";

constexpr Meant kMeant[] = {
    {"aliases: trapz", "fit no axis 7", kOneShape},
    {"attention: scaled_dot_product_attention", "cannot share 0 heads", "no head could be whose"},
    {"attention: scaled_dot_product_attention", "[1, 4, 11, 2] [1, 2, 5, 2]", "what attends to nothing is NaN"},
    {"attention: scaled_dot_product_attention", "[1, 2, 1, 2] [1, 2, 1, 3]", "what attends to nothing is NaN"},
    {"attention: rotary_embedding", "pairs are rotated", "the formula in Python rotates what there is"},
    {"attention: rotary_embedding", "only size 1 repeats", "the formula in Python repeats x"},
    {"convolution: conv_transpose1d", "leave 0", "as a convolution refuses it"},
    {"distributions: MultivariateNormal::log_prob", "give shapes [.., n] and [.., n, n]", kOneShape},
    {"distributions: MultivariateNormal::entropy", "give shapes [.., n] and [.., n, n]", kOneShape},
    {"indexing: scatter", ": gradient 1", kLastUpdate},
    {"indexing: put_along_axis", ": gradient 1", kLastUpdate},
    {"indexing: index_copy", ": gradient 1", kLastUpdate},
    {"indexing: index_put", ": gradient 1", kLastUpdate},
    {"indexing: put", ": gradient 1", kLastUpdate},
    {"indexing: Tensor::at", ": gradient 1", kLastUpdate},
    {"linalg: eigh", "[11, 11, 4]", "vectors of equal values may be any of their plane"},
    {"linalg: cond", "has no singular values", "there is no quotient of none"},
    {"losses: multi_margin_loss", "[0, 4] [0]: result", "the mean of none is NaN; PyTorch leaves the memory as it was"},
    {"losses: multilabel_soft_margin_loss", "does not broadcast to the prediction", kOneShape},
    {"losses: multilabel_soft_margin_loss", "give both one shape", kOneShape},
    {"losses: mse_loss", "give both one shape", kOneShape},
    {"losses: l1_loss", "give both one shape", kOneShape},
    {"losses: smooth_l1_loss", "give both one shape", kOneShape},
    {"losses: huber_loss", "give both one shape", kOneShape},
    {"losses: poisson_nll_loss", "give both one shape", kOneShape},
    {"losses: kl_div", "give both one shape", kOneShape},
    {"losses: soft_margin_loss", "give both one shape", kOneShape},
    {"losses: hinge_embedding_loss", "give both one shape", kOneShape},
    {"norms: matrix_norm: of singular values", "11, 11, 3]: gradient", "the smallest is 0 but for rounding"},
    {"norms: linalg_norm: of singular values", "11, 11, 3]: gradient", "the smallest is 0 but for rounding"},
    {"products: tensordot", "axes that are summed together have one size", kOneShape},
    {"products: addmv", "[1] [0, 3] [3]: shapes", "PyTorch's result has the size of the bias"},
    {"products: addmv", "[1] [2, 0] [0]: shapes", "PyTorch's result has the size of the bias"},
    {"rearranging: repeat_interleave", "[0, 2] [0] [1]: shapes", "the row's output_size is not that of no elements"},
    {"reductions: var", "1, 4]: gradient", "as the variance of too few values is NaN, so is its gradient"},
    {"reductions: var", "[2, 1, 3, 1, 1, 2, 3, 4]: gradient", "as the variance of too few values is NaN"},
    {"resampling: pixel_unshuffle", ": shapes", kNoElements},
    {"scans: trapezoid, places", "fit no axis 7", kOneShape},
    {"scans: cumulative_trapezoid, places", "fit no axis 7", kOneShape},
    {"sorting: median", "have no median", "none of no elements is the one in the middle"},
    {"spatial_layers: Conv3d", ": shapes", kLayerSizes},
    {"spatial_layers: PixelUnshuffle", ": shapes", kNoElements},
    {"spatial_layers: BatchNorm1d", "has shape", kLayerSizes},
    {"spatial_layers: BatchNorm1d", "a variance needs at least 2", kStatistics},
    {"spatial_layers: BatchNorm3d", "a variance needs at least 2", kStatistics},
    {"spatial_layers: InstanceNorm1d", "a variance needs at least 2", kStatistics},
    {"spatial_layers: InstanceNorm2d", "has shape", kLayerSizes},
    {"spatial_layers: InstanceNorm2d", "a variance needs at least 2", kStatistics},
    {"spatial_layers: InstanceNorm3d", "has shape", kLayerSizes},
    {"spatial_layers: InstanceNorm3d", "a variance needs at least 2", kStatistics},
    {"spatial_layers: BatchNorm1d statistics", "has shape", kLayerSizes},
    {"spatial_layers: BatchNorm1d statistics", "a variance needs at least 2", kStatistics},
    {"spatial_layers: BatchNorm3d statistics", "has shape", kLayerSizes},
    {"spatial_layers: BatchNorm3d statistics", "a variance needs at least 2", kStatistics},
    {"spatial_layers: BatchNorm1d cumulative", "has shape", kLayerSizes},
    {"spatial_layers: BatchNorm1d cumulative", "a variance needs at least 2", kStatistics},
    {"spatial_layers: InstanceNorm2d statistics", "a variance needs at least 2", kStatistics},
};

std::string name_of(const std::vector<Input>& inputs) {
  std::string name;
  for (const Input& in : inputs) name += (name.empty() ? "" : " ") + to_string(in.shape);
  return name;
}

/// An outcome, or the text of the error of a call that is refused.
using Result = std::variant<Outcome, std::string>;

/// Results and gradients are computed in one plan.
Result result_of(const Row& row, const std::vector<Input>& inputs, bool differentiated, debug::Executor executor) {
  const ScopedExecutor executing(executor);
  try {
    Tensors given = inputs_of(row, inputs, main_type(row));
    const Tensors leaves = differentiated ? leaves_among(row, inputs, given) : Tensors{};
    const Tensors made = row.call(given);
    const Tensors grads = leaves.empty() ? Tensors{} : gradient(weighted(made, leaves), leaves);
    Tensors all = made;
    all.insert(all.end(), grads.begin(), grads.end());
    realize_all(all);
    Outcome out;
    for (const Tensor& t : made) {
      out.shapes.push_back(sizes_of(t.shape()));
      out.results.push_back(numbers(t));
    }
    for (const Tensor& g : grads) out.gradients.push_back(numbers(g));
    return out;
  } catch (const UsageError& e) { return e.what(); }
}

std::vector<double> beginning(const std::vector<double>& numbers) {
  return {numbers.begin(), numbers.begin() + std::min<int64_t>(8, static_cast<int64_t>(numbers.size()))};
}

/// What differs, as text.
std::vector<std::string> differences(const Result& result, const Outcome& want, double tolerance) {
  if (const auto* error = std::get_if<std::string>(&result)) return {"refused, " + *error};
  const Outcome& got = std::get<Outcome>(result);
  if (got.shapes != want.shapes) return {fmt::format("shapes {}, not {}", got.shapes, want.shapes)};
  std::vector<std::string> out;
  const auto compare = [&](const char* what, const auto& of_got, const auto& of_want, double within) {
    for (size_t k = 0; k < of_want.size(); ++k)
      if (!close(of_got[k], of_want[k], within))
        out.push_back(fmt::format("{} {}: {}, not {}", what, k, beginning(of_got[k]), beginning(of_want[k])));
  };
  compare("result", got.results, want.results, tolerance);
  compare("gradient", got.gradients, want.gradients, 10 * tolerance);
  return out;
}

/// What differs between generated code, if it is asked for, the interpreter and PyTorch. Where PyTorch refuses, Sinter
/// may refuse too or compute something.
std::vector<std::string> differences(const Row& row, const OddCase& c, const std::optional<Outcome>& torch,
                                     bool by_kernels) {
  const bool differentiated = torch ? !torch->gradients.empty() : row.gradients != Gradients::None;
  const Result interpreted = result_of(row, c.inputs, differentiated, debug::Executor::Interpreter);
  std::vector<std::string> out;
  if (torch) out = differences(interpreted, *torch, row.tolerance);
  if (!by_kernels) return out;
  const Result compiled = result_of(row, c.inputs, differentiated, debug::Executor::Compiled);
  // Indices out of range, which PyTorch refuses, are refused by generated code alone.
  const auto* want = std::get_if<Outcome>(&interpreted);
  if (want && (torch || std::holds_alternative<Outcome>(compiled)))
    for (const std::string& difference : differences(compiled, *want, 4e-6)) out.push_back("compiled: " + difference);
  if (!want && std::holds_alternative<Outcome>(compiled)) out.push_back("refused by the interpreter alone");
  return out;
}

/// Calls `body` with each row, its cases of odd sizes, what PyTorch makes of them: nothing where it refuses, and
/// whether kernels are to compute them, which take the time: of the first case's sizes every other one. A size has
/// three of them, and rows begin in turn: so each way to be odd is met on every place.
template <class Body>
void for_each_odd_case(Body body) {
  size_t place = 0;
  for (const Family* family : Family::all()) {
    const Recorded recorded(*family);
    for (const Row& row : family->rows()) {
      ++place;
      const std::vector<OddCase> cases = odd_cases(row);
      std::vector<std::optional<Outcome>> outcomes(cases.size());
      if (!row.torch.empty())
        outcomes = recorded_outcomes(recorded.at(row.name + "/odd/layout"), recorded.at(row.name + "/odd/values"));
      REQUIRE(outcomes.size() == cases.size());
      for (size_t c = 0; c < cases.size(); ++c) {
        const std::string name = family->name() + ": " + row.name;
        INFO(name << " of " << name_of(cases[c].inputs));
        try {
          body(name, row, cases[c], outcomes[c], cases[c].of == 0 && (compiles_all() || (c + place) % 2 == 0));
        } catch (const std::exception& e) { FAIL_CHECK("not a UsageError: " << e.what()); }
      }
    }
  }
}

}  // namespace

TEST_CASE("surface: on odd sizes each function and its gradient are PyTorch's", "[surface][odd]") {
  std::set<const Meant*> met;
  for_each_odd_case([&](const std::string& name, const Row& row, const OddCase& c, const std::optional<Outcome>& torch,
                        bool by_kernels) {
    for (const std::string& text : differences(row, c, torch, by_kernels)) {
      const std::string difference = name_of(c.inputs) + ": " + text;
      bool meant = false;
      for (const Meant& m : kMeant)
        if (m.row == name && difference.find(m.part) != std::string::npos) meant = met.insert(&m).second || true;
      if (!meant) FAIL_CHECK(difference);
    }
  });
  for (const Meant& m : kMeant) {
    INFO("meant to differ, but does not: " << m.row << ", " << m.part);
    CHECK(met.contains(&m));
  }
}

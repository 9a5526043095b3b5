// vmap() of every row of the table against the loop over the elements, by the interpreter.
#include <fmt/core.h>

#include <map>
#include <set>

#include "explain.h"
#include "runtime/program/host_target.h"
#include "sinter/transforms.h"
#include "surface/comparison.h"

using namespace sinter;
using namespace sinter::testing;
using namespace surface;

namespace {

constexpr int64_t kBatch = 3;
constexpr const char* kDraws = "random numbers drawn inside the function would be the same for all elements";
constexpr const char* kSize = "depends on the data, and vmap is one program for all elements of the batch; use ";
constexpr const char* kReads = "reads a value that depends on an element of the batch";

/// The rows that vmap() refuses, and why. Layers draw their weights.
const std::map<std::string, const char*>& refused() {
  static const std::map<std::string, const char*> rows = {
      {"unique", kSize},
      {"unique_consecutive", kSize},
      {"bincount", kSize},
      {"Tensor::index: mask", kSize},
      {"masked_select", kSize},
      {"nonzero", kSize},
      {"argwhere", kSize},
      {"repeat_interleave", kSize},
      {"allclose", kReads},
      {"equal", kReads},
      {"dropout", kDraws},
      {"feature_dropout", kDraws},
      {"dropout1d", kDraws},
      {"dropout2d", kDraws},
      {"dropout3d", kDraws},
      {"alpha_dropout", kDraws},
      {"feature_alpha_dropout", kDraws},
      {"gumbel_softmax", kDraws},
      {"MultiheadAttention kdim", kDraws},
      {"Embedding padding_idx", kDraws},
      {"EmbeddingBag sum", kDraws},
      {"EmbeddingBag mean", kDraws},
      {"EmbeddingBag max", kDraws},
      {"EmbeddingBag weighted", kDraws},
  };
  return rows;
}

/// Inputs for each element of the batch. Floats differ from element to element, within the row's range.
std::vector<Tensors> elements_of(const Row& row) {
  std::vector<Tensors> out;
  for (int64_t b = 0; b < kBatch; ++b) {
    Tensors x = inputs_of(row, row.cases[0], main_type(row));
    for (Tensor& t : x) {
      if (is_float(t.dtype())) t = (t - row.low) * (1.0 - 0.07 * static_cast<double>(b)) + row.low;
      t.realize();
    }
    out.push_back(x);
  }
  return out;
}

Tensors batch_of(const std::vector<Tensors>& elements) {
  Tensors out;
  for (size_t k = 0; k < elements[0].size(); ++k) {
    Tensors parts;
    for (const Tensors& e : elements) parts.push_back(e[k]);
    out.push_back(stack(parts).realize());
  }
  return out;
}

Tensor mapped(const Row& row, size_t result, const Tensors& batch) {
  return transforms::vmap([&](const Tensors& x) { return row.call(x)[result]; }, batch);
}

/// The reason of the row's refusal; empty if it is none.
std::string refusal_of(const Row& row, const Tensors& batch) {
  try {
    mapped(row, 0, batch);
  } catch (const UsageError& e) { return e.what(); }
  return "";
}

/// A function may give its argument itself, which is computed: its copy counts.
size_t launches_of(const Tensor& t) {
  return testing::explain(std::vector<Tensor>{t.clone()}, runtime::host_target()).sources.size();
}

}  // namespace

TEST_CASE("surface: vmap gives what a loop gives, or says why it refuses", "[surface][transform]") {
  const ScopedExecutor interpreted(debug::Executor::Interpreter);
  std::set<std::string> met;
  for_each_row([&](const Family&, const Row& row) {
    if (row.cases[0].empty()) return;
    const std::vector<Tensors> elements = elements_of(row);
    const Tensors batch = batch_of(elements);
    if (const auto reason = refused().find(row.name); reason != refused().end()) {
      met.insert(row.name);
      CHECK_THAT(refusal_of(row, batch), Catch::Contains(reason->second));
      return;
    }
    std::vector<Tensors> each;
    for (const Tensors& e : elements) each.push_back(row.call(e));
    for (size_t k = 0; k < each[0].size(); ++k) {
      INFO("result " << k);
      Tensors one;
      for (const Tensors& e : each) one.push_back(e[k]);
      const Tensor got = mapped(row, k, batch), want = stack(one);
      CHECK(got.dtype() == want.dtype());
      CHECK(got.shape() == want.shape());
      CHECK((row.elementwise ? same(numbers(got), numbers(want)) : close(numbers(got), numbers(want), row.tolerance)));
    }
  });
  CHECK(met.size() == refused().size());
}

TEST_CASE("surface: vmap of an elementwise function has at most one launch more than a call", "[surface][transform]") {
  for_each_row([](const Family&, const Row& row) {
    if (!row.elementwise || row.cases[0].empty() || refused().contains(row.name)) return;
    const std::vector<Tensors> elements = elements_of(row);
    CHECK(launches_of(mapped(row, 0, batch_of(elements))) <= launches_of(row.call(elements[0])[0]) + 1);
  });
}

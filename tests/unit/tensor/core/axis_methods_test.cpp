// Each method that takes an axis takes one integer for it: no overload beside it makes the call ambiguous.
#include <functional>
#include <map>
#include <regex>

#include "repository.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

/// A call along axis 1, and what it gives: one tensor of those it gives.
using AlongAxis = std::function<Tensor(const Tensor&)>;

#define ALONG(name) {#name, [](const Tensor& x) { return Tensor(x.name(1)); }}
#define VALUES_ALONG(name) {#name, [](const Tensor& x) { return x.name(1).values; }}

const std::map<std::string, AlongAxis>& calls() {
  static const std::map<std::string, AlongAxis> all = {
      ALONG(sum),
      ALONG(prod),
      ALONG(mean),
      ALONG(var),
      ALONG(std),
      ALONG(any),
      ALONG(all),
      ALONG(amax),
      ALONG(amin),
      ALONG(nansum),
      ALONG(nanmean),
      ALONG(count_nonzero),
      ALONG(logsumexp),
      ALONG(argmax),
      ALONG(argmin),
      ALONG(flip),
      ALONG(squeeze),
      ALONG(unsqueeze),
      ALONG(softmax),
      ALONG(log_softmax),
      ALONG(cumsum),
      ALONG(cumprod),
      ALONG(logcumsumexp),
      ALONG(argsort),
      VALUES_ALONG(sort),
      VALUES_ALONG(max),
      VALUES_ALONG(min),
      VALUES_ALONG(cummax),
      VALUES_ALONG(cummin),
      VALUES_ALONG(median),
      VALUES_ALONG(nanmedian),
      VALUES_ALONG(mode),
      {"aminmax", [](const Tensor& x) { return x.aminmax(1).second; }},
      {"unbind", [](const Tensor& x) { return x.unbind(1)[0]; }},
      {"size", [](const Tensor& x) { return Tensor(x.size(1)); }},
      // Those that take more, with the axis first.
      {"slice", [](const Tensor& x) { return x.slice(1, 0, 2); }},
      {"unfold", [](const Tensor& x) { return x.unfold(1, 2, 1); }},
      {"unflatten", [](const Tensor& x) { return x.unflatten(1, {3, 1}); }},
      {"narrow", [](const Tensor& x) { return x.narrow(1, 0, 2); }},
      {"select", [](const Tensor& x) { return x.select(1, 0); }},
      {"gather", [](const Tensor& x) { return x.gather(1, x.argsort(1)); }},
      {"index_select", [](const Tensor& x) { return x.index_select(1, from({0, 2})); }},
      {"scatter", [](const Tensor& x) { return x.scatter(1, x.argsort(1), 1); }},
      {"scatter_add", [](const Tensor& x) { return x.scatter_add(1, x.argsort(1), 1); }},
      {"scatter_reduce", [](const Tensor& x) { return x.scatter_reduce(1, x.argsort(1), 1, ScatterReduce::Prod); }},
      {"index_reduce", [](const Tensor& x) { return x.index_reduce(1, from({0, 2}), 1, "amax"); }},
      {"index_add", [](const Tensor& x) { return x.index_add(1, from({0, 2}), 1); }},
      {"index_copy", [](const Tensor& x) { return x.index_copy(1, from({0, 2}), 1); }},
      {"index_fill", [](const Tensor& x) { return x.index_fill(1, from({0, 2}), 1); }},
  };
  return all;
}

}  // namespace

TEST_CASE("every method with an axis takes one integer for it", "[tensor]") {
  const ScopedExecutor interpreted(debug::Executor::Interpreter);
  const Tensor x = from({{0.5, -1.0, 2.0}, {1.5, 0.25, -3.0}});
  for (const auto& [name, call] : calls()) {
    INFO(name);
    CHECK_FALSE(numbers(call(x)).empty());
  }
  const std::regex with_axis(R"((\w+)\((?:int64_t axis|I axis|Axes axes|std::optional<int64_t> axis)\b)");
  for (const std::string& name : names_in("include/sinter/tensor.h", with_axis)) {
    INFO(name);
    CHECK(calls().contains(name));
  }
  for (const std::string& name : names_in("include/sinter/tensor_methods.h", with_axis)) {
    INFO(name);
    CHECK((name.ends_with("_") || calls().contains(name)));  // what writes: in_place_test.cpp
  }
}

TEST_CASE("sort and argsort along an axis given by one integer", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{3, 1, 2}, {0, 5, 4}});
  const auto ints = [](const Tensor& t) { return t.to_vector<int64_t>(); };
  CHECK(ints(x.sort(1).values) == std::vector<int64_t>{1, 2, 3, 0, 4, 5});
  CHECK(ints(x.sort(-1).values) == std::vector<int64_t>{1, 2, 3, 0, 4, 5});
  CHECK(ints(x.sort(0).values) == std::vector<int64_t>{0, 1, 2, 3, 5, 4});
  CHECK(ints(x.argsort(1)) == std::vector<int64_t>{1, 2, 0, 0, 2, 1});
  CHECK(ints(x.argsort(0)) == std::vector<int64_t>{1, 0, 0, 0, 1, 1});
}

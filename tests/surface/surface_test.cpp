// What is asked of every row of the table.
#include <fmt/core.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "surface/comparison.h"
#include "surface/odd_sizes.h"
#include "surface/view.h"

using namespace sinter;
using namespace sinter::testing;
using namespace surface;

namespace {

constexpr DType kTypes[] = {boolean, uint8, int8,    uint16,   int16,   uint32, int32,
                            uint64,  int64, float16, bfloat16, float32, float64};
constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               0.0,
                               -0.0,
                               1.0,
                               -1.0,
                               0.5,
                               2.5,
                               -2.5,
                               1e30,
                               -1e30,
                               1e-30};

constexpr DType kIntegers[] = {uint8, int16, uint32, int64, uint16, int8, uint64, int32};
constexpr DType kFloats[] = {float16, float64, bfloat16, float64};

/// Whether a row, by its place in the table, is compiled in a type besides its main type.
bool is_compiled_in(DType dtype, size_t place) {
  return compiles_all() || dtype == boolean || dtype == kIntegers[place % std::size(kIntegers)] ||
         dtype == kFloats[place % std::size(kFloats)];
}

/// Generated code and the interpreter agree.
void compare_executors(const Tensors& made, const std::string& what) {
  INFO(what);
  for (const Tensor& t : made) {
    const std::vector<double> want = read(t, debug::Executor::Interpreter), got = read(t, debug::Executor::Compiled);
    CHECK(agree(t.dtype(), got, want));
  }
}

/// Sums depend on how their operands lie in memory (SEMANTICS F2).
bool same_on_view(const Row& row, const Tensor& of_view, const Tensor& of_copy) {
  const std::vector<double> got = numbers(of_view), want = numbers(of_copy);
  return row.elementwise ? same(got, want) : agree(of_view.dtype(), got, want);
}

/// The same of sizes of 1, if the row takes them.
void compare_on_ones(const Row& row, DType dtype) {
  try {
    compare_executors(row.call(inputs_of(row, of_ones(row.cases[0]), dtype)), "sizes of 1");
  } catch (const UsageError&) {  // asked for in odd_sizes_test.cpp
  }
}

size_t numbers_among(const std::vector<Input>& inputs) {
  size_t count = 0;
  for (const Input& in : inputs) count += in.kind == Input::Kind::Numbers;
  return count;
}

/// The special values, each with each: inputs of `count` tensors.
Tensors specials(size_t count) {
  const std::vector<double> values(std::begin(kSpecial), std::end(kSpecial));
  const auto n = static_cast<int64_t>(values.size());
  if (count == 1) return {from(values).to(float32)};
  return {from(values).to(float32).unsqueeze(1).expand({n, n}), from(values).to(float32).expand({n, n})};
}
bool has_specials(const Row& row) {
  return main_type(row) == float32 && row.elementwise && row.cases[0].size() <= 2 && !row.torch.empty() &&
         row.because.empty();
}

void compare_with_torch(const Recorded& recorded, const Row& row, const std::string& key, const Tensors& made) {
  for (size_t k = 0; k < made.size(); ++k) {
    const std::string name = fmt::format("{}/out{}", key, k);
    const std::vector<double> want = recorded.at(name);
    INFO(name);
    CHECK(made[k].shape() == recorded.shape(name));
    CHECK(close(numbers(made[k]), want, row.tolerance));
  }
}

}  // namespace

/// All types are interpreted. An integer, a float and bool are compiled, others from row to row: that kernels compute
/// every op in every type is asked of random programs.
TEST_CASE("surface: each function takes the element types that its row names, and no others", "[surface]") {
  size_t place = 0;
  for_each_row([&](const Family&, const Row& row) {
    for (const DType dtype : kTypes) {
      INFO(name_of(dtype));
      Row whole = row;  // numbers that every type holds
      if (!is_float(dtype))
        whole.low = std::max(std::ceil(row.low), is_unsigned(dtype) ? 0.0 : -100.0),
        whole.high = std::max(whole.low + 3, row.high);
      const Tensors given = inputs_of(whole, row.cases[0], dtype);
      if (!takes(row.types, dtype)) {
        if (numbers_among(row.cases[0]) > 0) CHECK_THROWS_AS(row.call(given), UsageError);
      } else if (!is_compiled_in(dtype, place)) {
        for (const Tensor& t : row.call(given)) CHECK_NOTHROW(read(t, debug::Executor::Interpreter));
      } else {
        compare_executors(row.call(given), "the first case");
        if (is_float(dtype)) compare_on_ones(whole, dtype);  // which compilers treat in a way of their own
      }
    }
    ++place;
  });
}

TEST_CASE("surface: each function is right on the cases of its row", "[surface]") {
  for_each_row([](const Family&, const Row& row) {
    for (const std::vector<Input>& inputs : row.cases)
      compare_executors(row.call(inputs_of(row, inputs, main_type(row))), "a case");
  });
}

TEST_CASE("surface: each function is the same on views", "[surface][views]") {
  for_each_row([](const Family&, const Row& row) {
    for (const std::vector<Input>& inputs : row.cases) {
      const Tensors given = inputs_of(row, inputs, main_type(row));
      Tensors views;
      for (const Tensor& x : given) views.push_back(as_view(x));
      const Tensors made = row.call(views), want = row.call(given);
      for (size_t k = 0; k < made.size(); ++k) CHECK(same_on_view(row, made[k], want[k]));
    }
  });
}

/// What a gradient adds comes in an order that depends on the graph, and so the last bit may differ.
TEST_CASE("surface: the gradient of each function is the same on views", "[surface][views]") {
  for_each_row([](const Family&, const Row& row) {
    if (row.gradients == Gradients::None) return;
    for (const std::vector<Input>& inputs : row.cases) {
      Tensors given = inputs_of(row, inputs, main_type(row)), views, leaves;
      for (size_t k = 0; k < given.size(); ++k) {
        const bool differentiated = inputs[k].kind == Input::Kind::Numbers;
        views.push_back(as_view(given[k], differentiated));
        if (differentiated) leaves.push_back(views.back());
      }
      const Tensors made = gradient(weighted(row.call(views), leaves), leaves);
      leaves = leaves_among(row, inputs, given);
      const Tensors want = gradient(weighted(row.call(given), leaves), leaves);
      for (size_t k = 0; k < made.size(); ++k) {
        INFO("of input " << k);
        CHECK(agree(made[k].dtype(), numbers(made[k]), numbers(want[k])));
      }
    }
  });
}

TEST_CASE("surface: values, special values and gradients are PyTorch's", "[surface]") {
  for (const Family* family : Family::all()) {
    const Recorded recorded(*family);
    for (const Row& row : family->rows()) {
      INFO(family->name() << ": " << row.name);
      if (row.torch.empty()) {
        CHECK_FALSE(row.because.empty());
        continue;
      }
      for (size_t c = 0; c < row.cases.size(); ++c) {
        const std::string key = fmt::format("{}/{}", row.name, c);
        const DType dtype = main_type(row);
        Tensors given = inputs_of(row, row.cases[c], dtype);
        const Tensors leaves = leaves_among(row, row.cases[c], given);
        const Tensors made = row.call(given);
        compare_with_torch(recorded, row, key, made);
        if (leaves.empty()) continue;
        const Tensors grads = gradient(weighted(made, leaves), leaves);
        for (size_t k = 0; k < leaves.size(); ++k) {
          INFO(key << ", gradient of input " << k);
          CHECK(close(numbers(grads[k]), recorded.at(fmt::format("{}/grad{}", key, k)), 10 * row.tolerance));
        }
      }
      if (!row.kinks.empty()) {
        const Tensor x = from(row.kinks).to(float32).requires_grad();
        const Tensors grads = gradient(weighted(row.call({x}), {}), {x});
        INFO("gradient at the kinks");
        CHECK(close(numbers(grads[0]), recorded.at(row.name + "/kinks/grad0"), 10 * row.tolerance));
      }
      if (has_specials(row))
        compare_with_torch(recorded, row, row.name + "/special", row.call(specials(row.cases[0].size())));
    }
  }
}

/// What is asked is the rule, so the interpreter is enough where not all is compiled: the kernels of gradients have
/// PyTorch's values above.
TEST_CASE("surface: gradients are those of differences, and so are theirs", "[surface]") {
  const ScopedExecutor executing(compiles_all() ? debug::Executor::Compiled : debug::Executor::Interpreter);
  for_each_row([](const Family&, const Row& row) {
    if (row.gradients == Gradients::None) return;
    for (const std::vector<Input>& inputs : row.cases) {
      const Tensors given = inputs_of(row, inputs, float64);
      std::vector<Shape> shapes;
      std::vector<size_t> places;
      std::vector<std::vector<double>> values;
      for (size_t k = 0; k < inputs.size(); ++k)
        if (inputs[k].kind == Input::Kind::Numbers) {
          places.push_back(k);
          shapes.push_back(inputs[k].shape);
          values.push_back(numbers_of(row, inputs[k], static_cast<int>(k)));
        }
      const FunctionOf value = [&](const Tensors& leaves) {
        Tensors all = given;
        for (size_t k = 0; k < leaves.size(); ++k) all[places[k]] = leaves[k];
        return weighted(row.call(all), leaves);
      };
      compare_slopes(value, values, shapes, 1e-5);
      if (row.gradients != Gradients::Second) continue;
      compare_slopes(
          [&](const Tensors& leaves) {
            const Tensors first = gradient(value(leaves), leaves);
            Tensor total = leaves[0].sum() * 0.0;
            for (size_t k = 0; k < leaves.size(); ++k)
              total = total + weighted({first[k]}, {}) + 0.5 * (leaves[k] * leaves[k]).sum();
            return total;
          },
          values, shapes, 1e-4);
    }
  });
}

nlohmann::json described(const std::vector<std::vector<Input>>& cases) {
  nlohmann::json out = nlohmann::json::array();
  for (const std::vector<Input>& inputs : cases) {
    nlohmann::json one = nlohmann::json::array();
    for (const Input& in : inputs)
      one.push_back({{"shape", sizes_of(in.shape)}, {"kind", static_cast<int>(in.kind)}, {"below", in.below}});
    out.push_back(one);
  }
  return out;
}

/// Writes what record_surface.py needs to the file that SURFACE_MANIFEST names.
TEST_CASE("surface: manifest", "[.][manifest]") {
  nlohmann::json families = nlohmann::json::object();
  for_each_row([&](const Family& family, const Row& row) {
    std::vector<std::vector<Input>> odd;
    for (const OddCase& c : odd_cases(row)) odd.push_back(c.inputs);
    families[family.name()].push_back({{"name", row.name},
                                       {"torch", row.torch},
                                       {"cases", described(row.cases)},
                                       {"odd", described(odd)},
                                       {"low", row.low},
                                       {"high", row.high},
                                       {"integers", main_type(row) == int32},
                                       {"gradients", row.gradients != Gradients::None},
                                       {"kinks", row.kinks},
                                       {"specials", has_specials(row) ? row.cases[0].size() : 0}});
  });
  const char* path = std::getenv("SURFACE_MANIFEST");
  REQUIRE(path);
  std::ofstream(path) << families.dump(1);
}

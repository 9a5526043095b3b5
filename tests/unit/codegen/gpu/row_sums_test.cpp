// Reductions on the simulated GPU whose operand is computed at each element: their blocks of threads cross the rows, or
// lie along them.
#include "catch.h"
#include "explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "runtime/cuda/context.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;

namespace {

constexpr int64_t kColumns = 7;

/// An operand of rows x kColumns that is computed from what is stored, and what its elements are.
struct Form {
  const char* name;
  std::function<Tensor(const Tensor& labels, const Tensor& table)> make;  ///< of `rows`, and of rows x kColumns
  std::function<int64_t(int64_t label, int64_t entry, int64_t column)> element;
};

int64_t label_of(int64_t row) { return row * row % kColumns; }
int64_t entry_of(int64_t row, int64_t column) { return (5 * row + 3 * column) % 11 - 4; }

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"one_hot", [](const Tensor& l, const Tensor&) { return one_hot(l.to(int64), kColumns); },
       [](int64_t l, int64_t, int64_t c) { return int64_t{l == c}; }},
      {"a comparison of rows with columns",
       [](const Tensor& l, const Tensor&) {
         return l.unsqueeze(1) >= arange(kColumns, int64, l.device()).to(l.dtype());
       },
       [](int64_t l, int64_t, int64_t c) { return int64_t{l >= c}; }},
      {"arithmetic on rows",
       [](const Tensor& l, const Tensor&) {
         return (l * 3 + 1).unsqueeze(1) - arange(kColumns, int64, l.device()).to(l.dtype());
       },
       [](int64_t l, int64_t, int64_t c) { return 3 * l + 1 - c; }},
      {"a mask of rows",
       [](const Tensor& l, const Tensor& t) { return where((l % 2 == 0).unsqueeze(1), t, zeros_like(t)); },
       [](int64_t l, int64_t e, int64_t) { return l % 2 == 0 ? e : 0; }},
      {"a mask of columns",
       [](const Tensor& l, const Tensor& t) {
         return where(arange(kColumns, int64, l.device()) > 3, t + l.unsqueeze(1), t);
       },
       [](int64_t l, int64_t e, int64_t c) { return c > 3 ? e + l : e; }},
      {"a gather",
       [](const Tensor& l, const Tensor&) {
         const Tensor table =
             (arange(kColumns * kColumns, int64, l.device()).reshape({kColumns, kColumns}) % 5).to(l.dtype());
         return embedding(l.to(int64), table) + 1;
       },
       [](int64_t l, int64_t, int64_t c) { return (l * kColumns + c) % 5 + 1; }},
  };
  return all;
}

struct Combine {
  const char* name;
  std::function<Tensor(const Tensor&, const std::vector<int64_t>&)> of;
  std::function<int64_t(const std::vector<int64_t>&)> expected;
};

const std::vector<Combine>& combines() {
  static const std::vector<Combine> all = {
      {"sum", [](const Tensor& x, const std::vector<int64_t>& axes) { return x.sum(axes); },
       [](const std::vector<int64_t>& v) {
         int64_t sum = 0;
         for (int64_t e : v) sum += e;
         return sum;
       }},
      {"any", [](const Tensor& x, const std::vector<int64_t>& axes) { return (x != 0).any(axes); },
       [](const std::vector<int64_t>& v) {
         return int64_t{std::any_of(v.begin(), v.end(), [](int64_t e) { return e != 0; })};
       }},
      {"all", [](const Tensor& x, const std::vector<int64_t>& axes) { return (x != 0).all(axes); },
       [](const std::vector<int64_t>& v) {
         return int64_t{std::all_of(v.begin(), v.end(), [](int64_t e) { return e != 0; })};
       }},
      {"max", [](const Tensor& x, const std::vector<int64_t>& axes) { return x.max(axes); },
       [](const std::vector<int64_t>& v) { return *std::max_element(v.begin(), v.end()); }},
      {"argmax",
       [](const Tensor& x, const std::vector<int64_t>& axes) {
         return axes.size() == 1 ? x.argmax(axes[0]) : x.flatten().argmax();
       },
       [](const std::vector<int64_t>& v) { return int64_t{std::max_element(v.begin(), v.end()) - v.begin()}; }},
      {"min", [](const Tensor& x, const std::vector<int64_t>& axes) { return x.min(axes); },
       [](const std::vector<int64_t>& v) { return *std::min_element(v.begin(), v.end()); }},
  };
  return all;
}

const std::vector<DType> kTypes = {int64, int32, int16, int8, float32};
const std::vector<std::vector<int64_t>> kAxes = {{0}, {1}, {0, 1}};

struct Operands {
  Operands(int64_t rows, DType dtype) {
    std::vector<int64_t> l, t;
    for (int64_t r = 0; r < rows; ++r) {
      l.push_back(label_of(r));
      for (int64_t c = 0; c < kColumns; ++c) t.push_back(entry_of(r, c));
    }
    labels = from(l, {rows}, Device::cuda()).to(dtype).realize();
    table = from(t, {rows, kColumns}, Device::cuda()).to(dtype).realize();
  }
  Tensor labels, table;
};

/// What the elements of the result are made of.
std::vector<int64_t> expected(const Form& form, const Combine& combine, const std::vector<int64_t>& axes,
                              int64_t rows) {
  const auto element = [&](int64_t r, int64_t c) { return form.element(label_of(r), entry_of(r, c), c); };
  std::vector<std::vector<int64_t>> groups(axes.size() == 2 ? 1 : static_cast<size_t>(axes[0] == 0 ? kColumns : rows));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < kColumns; ++c)
      groups[axes.size() == 2 ? 0 : static_cast<size_t>(axes[0] == 0 ? c : r)].push_back(element(r, c));
  std::vector<int64_t> out;
  for (const std::vector<int64_t>& g : groups) out.push_back(combine.expected(g));
  return out;
}

std::string axes_text(const std::vector<int64_t>& axes) {
  return axes.size() == 2 ? "all" : fmt::format("{}", axes[0]);
}

}  // namespace

TEST_CASE("integers and conditions computed for each row are summed over rows on a GPU", "[cuda][row-sums]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const Tensor l = (arange(1000, int64, Device::cuda()) % 7).realize();
  CHECK(one_hot(l, 7).sum(0).to_vector<int64_t>() == std::vector<int64_t>{143, 143, 143, 143, 143, 143, 142});
  int turn = 0;
  for (const int64_t rows : {65, 257})
    for (const Form& form : forms())
      for (const Combine& combine : combines()) {
        const DType dtype = kTypes[static_cast<size_t>(turn) % kTypes.size()];
        const std::vector<int64_t>& axes = kAxes[static_cast<size_t>(turn++) % 3 == 1 ? 2 : 0];
        INFO(form.name << ", " << combine.name << " over " << axes_text(axes) << " of " << rows << " rows");
        const Operands given(rows, dtype);
        const Tensor result = combine.of(form.make(given.labels, given.table), axes);
        CHECK(result.to(int64).to_vector<int64_t>() == expected(form, combine, axes, rows));
      }
}

TEST_CASE("every integer reduction has kernels for a GPU", "[cuda][row-sums]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  for (const int64_t rows : {64, 65, 255, 257, 5000})
    for (const DType dtype : kTypes) {
      if (SINTER_TEST_SHARE > 1 && rows != 65) continue;
      const Operands given(rows, dtype);
      for (const Form& form : forms())
        for (const Combine& combine : combines())
          for (const std::vector<int64_t>& axes : kAxes) {
            INFO(form.name << ", " << combine.name << " over " << axes_text(axes) << " of " << rows << " rows of "
                           << dtype);
            const Tensor result = combine.of(form.make(given.labels, given.table), axes);
            CHECK_NOTHROW(testing::explain(std::vector<Tensor>{result}, runtime::cuda_target({})));
          }
    }
}

namespace {

/// Two reductions of one operand, of which the first keeps rows that the second goes across.
struct Joint {
  Shape shape;
  DType dtype;
  std::vector<int64_t> row;  ///< what the reduction within the operand runs over
  std::vector<int64_t> inside, across;
};

std::vector<Joint> joints() {
  std::vector<Joint> all;
  for (const DType dtype : {float32, float64, float16, int64, int32, int8, boolean}) {
    for (const std::vector<int64_t>& row : {std::vector<int64_t>{1, 2}, {2}, {0}})
      for (const std::vector<int64_t>& inside : {std::vector<int64_t>{2}, {1}, {1, 2}})
        for (const std::vector<int64_t>& across : {std::vector<int64_t>{0, 2}, {0, 1}, {0}}) {
          all.push_back({{512, 64, 512}, dtype, row, inside, across});
          all.push_back({{2000, 64, 64}, dtype, row, inside, across});
          all.push_back({{2048, 2, 32}, dtype, row, inside, across});
        }
    all.push_back({{512, 8, 8, 512}, dtype, {1, 2, 3}, {3}, {0, 3}});
  }
  return all;
}

/// The operand less, or unlike, the greatest element of each of its rows.
Tensor without_peaks(const Tensor& x, const std::vector<int64_t>& row) {
  const Tensor peak = x.max(row, true);
  return x.dtype() == boolean ? x != peak : x - peak;
}

std::vector<Tensor> both(const Combine& first, const Combine& second, const Tensor& x, const Joint& j) {
  const auto of = [](const Combine& c, const Tensor& z, const std::vector<int64_t>& axes) {
    return std::string(c.name) == "argmax" ? z.argmax(axes.back()) : c.of(z, axes);
  };
  const Tensor z = without_peaks(x, j.row);
  return {of(first, z, j.inside), of(second, z, j.across)};
}

}  // namespace

TEST_CASE("sums across rows have kernels for a GPU beside sums within rows", "[cuda][row-sums]") {
  size_t turn = 0;
  size_t number = 0;
  for (const Joint& j : joints()) {
    if (number++ % SINTER_TEST_SHARE) continue;
    const Tensor x = zeros(j.shape, j.dtype, Device::cpu()).contiguous().realize();
    for (int i = 0; i < 2; ++i, ++turn) {
      const Combine &first = combines()[turn / 5 % combines().size()], &second = combines()[turn % combines().size()];
      INFO(first.name << " over " << fmt::format("{}", fmt::join(j.inside, ",")) << " and " << second.name << " over "
                      << fmt::format("{}", fmt::join(j.across, ",")) << ", peaks over "
                      << fmt::format("{}", fmt::join(j.row, ",")) << " of " << j.shape << " " << j.dtype);
      CHECK_NOTHROW(testing::explain(both(first, second, x, j), runtime::cuda_target({})));
    }
  }
}

TEST_CASE("sums across rows are right on a GPU beside sums within rows", "[cuda][row-sums]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  constexpr int64_t kRows = 2048 / SINTER_TEST_SHARE, kGroups = 2, kLanes = 32, kRow = kGroups * kLanes;
  std::vector<int64_t> values(kRows * kRow), inside(kRows * kGroups), across(kGroups);
  for (int64_t i = 0; i < kRows * kRow; ++i) values[static_cast<size_t>(i)] = i * i % 101 - 50;
  for (auto row = values.begin(); row != values.end(); row += kRow) {
    const int64_t peak = *std::max_element(row, row + kRow);
    for (int64_t i = 0; i < kRow; ++i) {
      inside[static_cast<size_t>((row - values.begin() + i) / kLanes)] += row[i] - peak;
      across[static_cast<size_t>(i / kLanes)] += row[i] - peak;
    }
  }
  const Joint j{{kRows, kGroups, kLanes}, int64, {1, 2}, {2}, {0, 2}};
  const Tensor x = from(values, j.shape, Device::cuda()).realize();
  const Combine& sum = combines()[0];
  const std::vector<Tensor> sums = both(sum, sum, x, j);
  realize(sums[0], sums[1]);
  CHECK(sums[0].to_vector<int64_t>() == inside);
  CHECK(sums[1].to_vector<int64_t>() == across);
}

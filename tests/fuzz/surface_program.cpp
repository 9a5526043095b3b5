#include "surface_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "surface/comparison.h"

namespace fuzz {

using namespace sinter;
using surface::Gradients;
using surface::Input;
using surface::Row;
using surface::Tensors;

namespace {

constexpr double kNumbers = 17;          ///< that an argument may have
constexpr double kEdge = 1e-3;           ///< of the way from one to the next: what roundings may move
constexpr double kLargest = 1e4;         ///< larger values are as this one
constexpr double kOffset = 0.137;        ///< edges lie where no simple fraction does
constexpr int64_t kMostElements = 4000;  ///< of a value that others are made of

/// Rows whose indices are those of the table, since a case names what they sum to.
constexpr std::string_view kFixedIndices[] = {"repeat_interleave"};

std::vector<int64_t> sizes_of(const Tensor& t) { return surface::sizes_of(t.shape()); }

class Maker {
 public:
  Maker(uint64_t seed, bool* steady) : random_(seed), steady_(steady) {
    if (steady_) *steady_ = true;
  }
  void call(const Row& row);
  std::vector<std::pair<std::string, Tensor>> asked, made;

 private:
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(0, 99) < percent; }

  DType type_for(const Row& row);
  Tensor argument(const Row& row, const Input& input, int which, DType dtype);
  Tensor numbers(const Row& row, const Shape& shape, DType dtype);
  Tensor indices(const Tensor& fixed, const Input& input);
  Tensor resized(const Tensor& x, int64_t count);
  Tensor fitted(const Shape& shape);
  Tensor joined(const Shape& shape);
  Tensor rounded(const Tensor& x);
  void keep(const std::string& name, const Tensor& value, bool is_asked);

  std::mt19937_64 random_;
  bool* steady_;
  Tensors pool_;
};

DType Maker::type_for(const Row& row) {
  static constexpr DType integers[] = {int32, int64, uint8, int16, uint32, int8, uint16, uint64};
  static constexpr DType floats[] = {float64, float64, float16, bfloat16};
  const bool takes_floats = takes(row.types, float32), takes_integers = takes(row.types, int32);
  if (!takes_floats || (takes_integers && chance(15))) return integers[pick(0, chance(60) ? 1 : 7)];
  return chance(80) ? float32 : floats[pick(0, 3)];
}

/// So many elements of a value: some of them, sums or maxima of them, or all of them again and again.
Tensor Maker::resized(const Tensor& x, int64_t count) {
  const int64_t n = x.numel();
  const Tensor flat = x.reshape({n});
  if (n == count) return flat;
  if (n > count) {
    const int64_t share = n / count, first = pick(0, n - share * count);
    if (chance(50)) return flat.narrow(0, first, count);
    const bool columns = chance(50);
    const Tensor table =
        flat.narrow(0, first, share * count).reshape(columns ? Shape{share, count} : Shape{count, share});
    const int64_t axis = columns ? 0 : 1;
    return chance(50) ? table.mean({axis}) : table.max({axis});
  }
  const int64_t times = (count + n - 1) / n;
  return flat.expand({times, n}).reshape({times * n}).narrow(0, 0, count);
}

Tensor Maker::fitted(const Shape& shape) {
  const Tensor& x = pool_[static_cast<size_t>(pick(0, static_cast<int64_t>(pool_.size()) - 1))];
  const Tensor numbers = is_float(x.dtype()) ? x : x.to(float32);
  const int64_t count = shape.numel();
  if (count == 0) return zeros(shape);
  Tensor y = sizes_of(x) == surface::sizes_of(shape) ? numbers : resized(numbers, count).reshape(shape);
  if (y.rank() > 0 && chance(20)) y = y.flip(pick(0, y.rank() - 1));
  return y.to(float32);
}

Tensor Maker::joined(const Shape& shape) {
  const Tensor x = fitted(shape);
  switch (pick(0, shape.rank() == 0 || shape.numel() == 0 ? 3 : 7)) {
    case 0: return x + fitted(shape);
    case 1: return x * fitted(shape);
    case 2: return maximum(x, fitted(shape) * 0.5);
    case 3: return where(x < fitted(shape), x, 0.25);
    case 4: return x - x.mean({-1}, true);
    case 5: return x / (1.0 + abs(x).max({0}, true));
    default: return x;
  }
}

/// Whole numbers from 0 up to, without, kNumbers.
Tensor Maker::rounded(const Tensor& x) {
  const Tensor finite = clamp(nan_to_num(x, 0, kLargest, -kLargest), -kLargest, kLargest);
  const Tensor steps = (finite / (1.0 + abs(finite)) * 0.5 + 0.5) * (kNumbers - 1) + kOffset;
  if (steady_)
    for (const double v : testing::numbers(steps)) *steady_ &= std::abs(v - std::round(v)) > kEdge;
  return floor(steps);
}

Tensor Maker::numbers(const Row& row, const Shape& shape, DType dtype) {
  const Tensor steps = rounded(joined(shape));
  if (is_float(dtype)) return (row.low + (row.high - row.low) / kNumbers * (steps.to(float64) + 0.5)).to(dtype);
  const double low = std::max(std::ceil(row.low), is_unsigned(dtype) ? 0.0 : -100.0),
               high = std::min(std::max(low + 3, std::floor(row.high)), 100.0);
  return (steps.to(int64) % static_cast<int64_t>(high - low + 1) + static_cast<int64_t>(low)).to(dtype);
}

Tensor Maker::indices(const Tensor& fixed, const Input& input) {
  if (input.shape.numel() == 0) return fixed;
  return (fixed + rounded(joined(input.shape)).to(int64)) % input.below;
}

/// Masks have as many true elements as those of the table: some functions demand it.
Tensor Maker::argument(const Row& row, const Input& input, int which, DType dtype) {
  Row whole = row;
  if (!is_float(dtype)) whole.low = std::max(0.0, std::ceil(row.low)), whole.high = std::max(whole.low + 3, row.high);
  const bool is_new = pool_.size() < 2 || chance(25);
  const bool has_fixed_indices =
      std::find(std::begin(kFixedIndices), std::end(kFixedIndices), row.name) != std::end(kFixedIndices);
  const Tensor fixed = surface::inputs_of(whole, {input}, dtype)[0];
  switch (input.kind) {
    case Input::Kind::Mask: return input.shape.rank() > 0 && chance(50) ? fixed.flip() : fixed;
    case Input::Kind::Indices: return is_new || has_fixed_indices ? fixed : indices(fixed, input);
    case Input::Kind::Numbers: break;
  }
  if (!is_new) return numbers(row, input.shape, dtype);
  std::vector<double> list = surface::numbers_of(whole, input, which + static_cast<int>(pick(0, 50)));
  if (!is_float(dtype))
    for (double& v : list) v = std::floor(v);
  return from(list, input.shape).to(dtype);
}

void Maker::keep(const std::string& name, const Tensor& value, bool is_asked) {
  made.emplace_back(name, value);
  if (is_asked) asked.push_back(made.back());
  if (value.numel() > 0 && value.numel() <= kMostElements) pool_.push_back(value.detach());
}

void Maker::call(const Row& row) {
  const std::vector<Input>& inputs =
      row.cases[static_cast<size_t>(pick(0, static_cast<int64_t>(row.cases.size()) - 1))];
  const DType dtype = type_for(row);
  const bool differentiated = row.gradients != Gradients::None && is_float(dtype) && chance(40);
  Tensors given, leaves;
  for (size_t k = 0; k < inputs.size(); ++k) {
    Tensor x = argument(row, inputs[k], static_cast<int>(k), dtype);
    if (differentiated && inputs[k].kind == Input::Kind::Numbers) leaves.push_back(x = x.detach().requires_grad());
    given.push_back(x);
  }
  const Tensors results = row.call(given);
  for (const Tensor& t : results) keep(row.name, t, chance(60));
  if (!leaves.empty())
    for (const Tensor& t : gradient(surface::weighted(results, leaves), leaves))
      keep(row.name + ", gradient", t, chance(60));
}

/// What agrees() of the table's tests allows, of the largest element.
double allowed(const Result& r) {
  double largest = 1;
  for (const double v : r.values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  const double unit = r.dtype == float16 ? 1e-3 : r.dtype == bfloat16 ? 1e-2 : r.dtype == float64 ? 1e-13 : 1e-6;
  return is_float(r.dtype) ? 10 * unit * largest : 0;
}

std::vector<Result> run_on(const SurfaceProgram& program, debug::Executor executor, bool* steady = nullptr) {
  const testing::ScopedExecutor executing(executor);
  return program.run(steady);
}

}  // namespace

std::vector<const Row*> shuffled_rows(uint64_t seed) {
  std::vector<const Row*> rows;
  for (const surface::Family* family : surface::Family::all())
    for (const Row& row : family->rows()) rows.push_back(&row);
  std::shuffle(rows.begin(), rows.end(), std::mt19937_64(seed));
  return rows;
}

std::vector<Result> SurfaceProgram::run(bool* steady) const {
  manual_seed(seed_);
  Maker maker(seed_, steady);
  for (const Row* row : rows_) maker.call(*row);
  if (maker.asked.empty()) maker.asked.push_back(maker.made.back());
  Tensors asked;
  for (const auto& [name, t] : maker.asked) asked.push_back(t);
  realize_all(asked);
  std::vector<Result> out;
  for (const auto& [name, t] : maker.asked) {
    out.push_back({name, t.dtype(), t.shape(), read(t), 0});
    out.back().error = allowed(out.back());
  }
  return out;
}

std::string SurfaceProgram::disagreement(bool* steady, bool unfused) const {
  try {
    bool is_steady = false;
    const auto interpreted = run_on(*this, debug::Executor::Interpreter, &is_steady);
    if (steady) *steady = is_steady;
    const auto fused = run_on(*this, debug::Executor::Compiled);
    const std::string why = is_steady ? difference(interpreted, fused, false) : "";
    if (is_steady && !unfused) return why;
    return why.empty() ? difference(fused, run_on(*this, debug::Executor::Unfused), true) : why;
  } catch (const std::exception& e) { return e.what(); }
}

std::string SurfaceProgram::listing() const {
  std::string text = fmt::format("program of functions, seed {}:\n", seed_);
  const testing::ScopedExecutor executing(debug::Executor::Interpreter);
  manual_seed(seed_);
  Maker maker(seed_, nullptr);
  try {
    for (const Row* row : rows_) {
      const size_t first = maker.made.size();
      text += fmt::format("  {}\n", row->name);
      maker.call(*row);
      for (size_t i = first; i < maker.made.size(); ++i) {
        const auto& [name, t] = maker.made[i];
        text += fmt::format("    {} {} {}\n", name, name_of(t.dtype()), to_string(t.shape()));
      }
    }
  } catch (const std::exception& e) { text += fmt::format("  then: {}\n", e.what()); }
  return text;
}

}  // namespace fuzz

// Drawing a program and running it.
#include "random_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/contains.h"
#include "ir/short_float.h"

namespace fuzz {

using namespace sinter;

namespace {

/// Rows beyond the 16 KiB from where on reductions are joined; matrices tall enough for sums across their rows.
std::vector<Shape> long_shapes(ProgramBuilder& r) {
  const int64_t few = r.pick(1, 3);
  switch (r.pick(0, 5)) {
    default: {
      if (r.chance(6)) return {{2, 32768 + r.pick(0, 40)}, {2, 1}};  // the rows are blocks by themselves
      const int64_t n = r.chance(30) ? 16 * r.pick(257, 400) : r.pick(4097, 6500);
      return {{few, n}, {few, n}, {n}, {few, 1}, {1, n}};
    }
    case 1: {
      const int64_t n = r.pick(64, 1400), w = r.pick(2, 12);
      return {{n, w}, {n, w}, {w}, {n, 1}, {1, w}};
    }
    case 2: {
      const int64_t n = r.pick(64, 300), w = r.pick(40, 70);
      return {{n, w}, {n, w}, {w}, {n, 1}};
    }
    case 3: {
      const int64_t a = r.pick(60, 75), b = r.pick(70, 90);
      return {{few, a, b}, {few, a, b}, {a, b}, {few, 1, 1}, {1, a, b}};
    }
  }
}
constexpr std::string_view kAlongRows[] = {"var",          "exponents", "softmax", "cumsum",         "argmax",
                                           "argmin",       "sum",       "mean",    "sums both ways", "weighted sum",
                                           "row gradient", "detour",    "running"};

}  // namespace

Program::Program(uint64_t seed, bool exact, int ops, std::vector<std::string_view> often, Sizes sizes)
    : seed_(seed), exact_(exact), ops_(ops), often_(std::move(often)), sizes_(sizes) {
  if (sizes_ == Sizes::Long && often_.empty()) often_.assign(std::begin(kAlongRows), std::end(kAlongRows));
}

ProgramBuilder::ProgramBuilder(uint64_t seed, bool exact, Coverage* coverage, Sizes sizes)
    : exact(exact), random(seed), generator(seed), coverage_(coverage) {
  if (sizes == Sizes::Long) family_ = long_shapes(*this);
}

Item& ProgramBuilder::any() {
  if (pool.size() < 3) {
    const DType kind = type();
    Shape s = shape();
    if (s.rank() && chance(4)) s[pick(0, static_cast<int64_t>(s.rank()) - 1)] = 0;
    return leaf(kind, s);
  }
  return pool[pool.size() - 1 -
              static_cast<size_t>(pick(0, static_cast<int64_t>(std::min<size_t>(pool.size(), 8)) - 1))];
}

DType ProgramBuilder::type() {
  static constexpr DType common[] = {float32, float32, float32, float64, int32, int64, uint8, boolean};
  static constexpr DType rare[] = {int8, int16, uint16, uint16, uint32, uint64, float16, float16, bfloat16, bfloat16};
  if (!exact) return chance(60) ? float32 : chance(40) ? float64 : chance(50) ? float16 : bfloat16;
  return chance(45) ? rare[pick(0, 9)] : common[pick(0, 7)];
}

Item& ProgramBuilder::of(const std::function<bool(DType)>& good, DType otherwise) {
  for (int i = 0; i < 4; ++i)
    if (Item& x = any(); good(x.t.dtype())) return x;
  return leaf(otherwise, shape());
}

Shape ProgramBuilder::shape(size_t lowest_rank) {
  if (!family_.empty()) return family_[static_cast<size_t>(pick(0, static_cast<int64_t>(family_.size()) - 1))];
  static constexpr int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33};
  Shape s;
  const size_t rank = std::max<size_t>(lowest_rank, static_cast<size_t>(pick(0, 3)));
  for (size_t i = 0; i < rank; ++i) s.push_back(sizes[pick(0, i == 0 ? 9 : 6)]);
  if (rank && chance(4)) s[0] = pick(64, 140);  // long enough for sums across outer ranges
  return s;
}

Item& ProgramBuilder::leaf(DType dtype, const Shape& shape, int64_t low, int64_t high) {
  const int64_t n = shape.numel();
  if (is_unsigned(dtype)) low = 0;
  if (dtype == boolean) high = 1;
  std::vector<double> values;
  // Neighbouring lanes, or the parts of a row, that differ: what joins their sums shows.
  const int64_t comb = !exact && !family_.empty() && chance(40) ? 16 : 0;
  const double slope =
      !exact && !family_.empty() && chance(40) ? 0.9 / static_cast<double>(std::max<int64_t>(1, n)) : 0;
  for (int64_t i = 0; i < n; ++i) {
    values.push_back(exact || !is_float(dtype) ? static_cast<double>(pick(low, high))
                                               : static_cast<double>(pick(-1000, 1000)) / 500.0);
    if (comb) values.back() = values.back() / 20 + static_cast<double>(i % comb) / 8 - 1;
    if (slope > 0) values.back() += slope * static_cast<double>(i);
  }
  Tensor t = from(values, shape).to(dtype);
  if (chance(60)) t.realize();
  return pool.emplace_back(Item{t, static_cast<double>(std::max(-low, high)), 0});
}

Item& ProgramBuilder::like(const Item& x) {
  for (size_t i = 0; i < pool.size(); ++i)
    if (Item& y = pool[pool.size() - 1 - i]; y.t.shape() == x.t.shape() && y.t.dtype() == x.t.dtype() && chance(50))
      return y;
  return leaf(x.t.dtype(), x.t.shape());
}

std::vector<double> read(const Tensor& t) {
  if (t.dtype() == float64) return t.to_vector<double>();
  std::vector<double> out;
  if (t.dtype() == float32 || ir::is_short_float(t.dtype()))
    for (float v : t.to_vector<float>()) out.push_back(v);
  else
    for (int64_t v : t.to(int64).to_vector<int64_t>()) out.push_back(static_cast<double>(v));
  return out;
}

namespace {

std::vector<Result> run(const Program& program, debug::Executor executor, Coverage* coverage = nullptr) {
  debug::set_executor(executor);
  std::vector<Result> results = program.run(coverage);
  debug::set_executor(debug::Executor::Compiled);
  return results;
}

bool same_bits(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

std::string difference(const std::vector<Result>& a, const std::vector<Result>& b, bool bitwise) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].values.size() != b[i].values.size()) return fmt::format("output {} ({}): sizes differ", i, a[i].name);
    for (size_t j = 0; j < a[i].values.size(); ++j) {
      const double x = a[i].values[j], y = b[i].values[j];
      const bool good = bitwise ? same_bits(x, y) : std::isnan(x) == std::isnan(y) && !(std::abs(x - y) > a[i].error);
      if (!good)
        return fmt::format("output {} ({} {} {}), element {}: {} and {}, allowed {}", i, a[i].name, name_of(a[i].dtype),
                           to_string(a[i].shape), j, x, y, bitwise ? 0.0 : a[i].error);
    }
  }
  return {};
}

std::vector<Result> read_all(const std::vector<std::pair<const OpCase*, Item>>& values) {
  std::vector<Result> out;
  for (const auto& [made_by, x] : values) out.push_back({made_by->name, x.t.dtype(), x.t.shape(), read(x.t), x.error});
  return out;
}

BuiltProgram Program::build(Coverage* coverage, std::string* text) const {
  ProgramBuilder r(seed_, exact_, coverage, sizes_);
  std::vector<const OpCase*> usable, favourites;
  for (const OpCase& c : op_cases())
    if (exact_ ? c.in_exact : c.in_real) {
      usable.push_back(&c);
      if (std::find(often_.begin(), often_.end(), c.name) != often_.end()) favourites.push_back(&c);
    }
  for (const OpCase& c : product_cases())
    if ((exact_ ? c.in_exact : c.in_real) && ir::contains(often_, c.name)) favourites.push_back(&c);
  BuiltProgram out;
  for (int i = 0; i < ops_; ++i) {
    std::vector<const OpCase*>& from = !favourites.empty() && r.chance(50) ? favourites : usable;
    const OpCase* c = from[static_cast<size_t>(r.pick(0, static_cast<int64_t>(from.size()) - 1))];
    Item x = c->make(r);
    if (x.t.numel() > (sizes_ == Sizes::Long ? 70000 : 6000)) continue;
    if (coverage) coverage->count_case(c->name);
    if (text) *text += fmt::format("  %{} {} {} {}\n", i, c->name, name_of(x.t.dtype()), to_string(x.t.shape()));
    r.met(x.t);
    r.pool.push_back(x);
    out.made.emplace_back(c, x);
    if (r.chance(10)) x.t.realize();
    if (r.chance(8) && is_float(x.t.dtype())) {  // an update of the cell; older values keep what they were
      Item& y = r.like(x);
      if (&y != &r.pool.back()) {
        r.pool.back().t = x.t.clone();
        r.pool.back().t += y.t;
        r.pool.back().magnitude += y.magnitude;
        r.pool.back().error += y.error + r.unit(x.t.dtype()) * 4 * r.pool.back().magnitude * !exact_;
      }
    }
  }
  for (size_t i = 0; i < out.made.size(); ++i)
    if (i + 1 == out.made.size() || r.chance(25)) out.asked.push_back(i);
  out.pool = std::move(r.pool);
  return out;
}

std::vector<Tensor> BuiltProgram::asked_tensors() const {
  std::vector<Tensor> out;
  for (const size_t i : asked) out.push_back(made[i].second.t);
  return out;
}

std::vector<Result> Program::run(Coverage* coverage) const {
  const BuiltProgram built = build(coverage);
  realize_all(built.asked_tensors());
  std::vector<std::pair<const OpCase*, Item>> asked;
  for (const size_t i : built.asked) asked.push_back(built.made[i]);
  return read_all(asked);
}

std::string disagreement(const Program& program, bool exact, Coverage* coverage) {
  try {
    const auto interpreted = run(program, debug::Executor::Interpreter, coverage);
    const auto fused = run(program, debug::Executor::Compiled);
    const std::string why = difference(interpreted, fused, exact);
    return why.empty() ? difference(fused, run(program, debug::Executor::Unfused), true) : why;
  } catch (const std::exception& e) {
    debug::set_executor(debug::Executor::Compiled);
    return e.what();
  }
}

std::string Program::listing() const {
  std::string text = fmt::format("{}program of seed {}, {}:\n", sizes_ == Sizes::Long ? "long " : "", seed_,
                                 exact_ ? "exact" : "real");
  debug::set_executor(debug::Executor::Interpreter);
  try {
    const BuiltProgram built = build(nullptr, &text);
    realize_all(built.asked_tensors());
  } catch (const std::exception& e) { text += fmt::format("  then: {}\n", e.what()); }
  debug::set_executor(debug::Executor::Compiled);
  return text;
}

}  // namespace fuzz

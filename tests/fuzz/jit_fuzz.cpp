// Random functions under jit, called again and again while what they use changes now and then, and while somebody holds
// equal expressions: each call gives what the function gives, to the bit, and leaves what the function leaves, whatever
// the caller has set for its floats; one that reads on the host is refused. FUZZ_PROGRAMS sets how many, FUZZ_SEED the
// first seed.
#include <algorithm>
#include <bit>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "fault.h"
#include "float_modes.h"
#include "setting.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

constexpr int64_t kSize = 6;
constexpr int kCalls = 9;

struct Random {
  std::mt19937_64 engine;
  size_t below(size_t n) { return engine() % n; }
  bool chance(size_t percent) { return below(100) < percent; }
};

Tensor square(uint64_t seed) {
  std::vector<float> values;
  for (uint64_t i = 0; i < kSize * kSize; ++i) values.push_back(static_cast<float>((seed * 7 + i * 5) % 13) / 4 - 1.5f);
  return from(values, {kSize, kSize});
}

/// Whether the function with this seed reads on the host.
bool reads(uint64_t seed) { return seed % 8 == 3; }

/// The tensors that a function uses beside its input.
struct State {
  std::vector<Tensor> used{square(1), square(2), square(3)};
  Tensor rows = from({0, 5, 2, 2, 4, 1});
};

/// What the function with this seed computes, in order; one that reads decides by what it has read.
std::vector<Tensor> steps(uint64_t seed, Random& random, const State& state, const Tensor& x) {
  std::vector<Tensor> values = state.used;
  const auto any = [&] { return values[random.below(values.size())]; };
  const size_t alone = random.below(6), all = alone + 2 + random.below(5);  // so many ops before the input is used
  const bool has_lapack =
      x.device() == Device::cpu();  // a GPU's would travel to the host, which a jitted function refuses
  for (size_t i = 0; i < all; ++i) {
    if (i == alone) values.push_back(x);
    const Tensor a = i == alone ? x : any();
    const uint64_t op = random.below(9);
    switch (op == 8 && !has_lapack ? 0 : op) {
      case 0: values.push_back(tanh(a) + any()); break;
      case 1: values.push_back(matmul(a, any()) * 0.125); break;
      case 2: values.push_back(a.transpose().contiguous()); break;
      case 8: values.push_back(solve_triangular(a, any() * 0.125, false, {.unitriangular = true}) * 0.0625); break;
      case 3: values.push_back(softmax(a, 1)); break;
      case 4: values.push_back((a * any()).contiguous()); break;
      case 5: values.push_back(a[state.rows].contiguous()); break;
      case 6: values.push_back(a - tanh(a.sum(0))); break;
      case 7: values.push_back(random.chance(40) ? a + rand({kSize, kSize}) : maximum(a, any()).contiguous()); break;
    }
  }
  if (reads(seed)) {
    const Tensor a = random.chance(50) ? any() : x;
    if (a.to_vector<float>()[random.below(kSize * kSize)] > 0) values.push_back(a * 3.0);
  }
  values.push_back(any() + x);
  return values;
}

/// The function with this seed; it ends with another value of some of `used`, perhaps.
std::vector<Tensor> function(uint64_t seed, State& state, const Tensor& x) {
  Random random{std::mt19937_64(seed)};
  const std::vector<Tensor> values = steps(seed, random, state, x);
  const auto any = [&] { return values[random.below(values.size())]; };
  const Tensor first = values.back(), second = values[values.size() - 2] * 0.5;
  if (random.chance(30)) state.used[random.below(3)].assign(tanh(any()) * 2.0);
  return {first, second};
}

/// What somebody else does between two calls.
void change(Random random, State& state) {
  if (random.chance(50)) return;
  Tensor& w = state.used[random.below(3)];
  switch (random.below(4)) {
    case 0: w.assign(square(random.below(100))); break;
    case 1: w += 0.25; break;
    case 2: w.at({Slice{1, 3}}) *= 0.5; break;
    case 3: state.rows.assign(from({3, 0, 1, 5, 2, 4})); break;
  }
}

std::vector<uint32_t> call(const auto& f, State& state, const Tensor& x, uint64_t number) {
  manual_seed(number);
  std::vector<Tensor> all = f(x);
  all.insert(all.end(), state.used.begin(), state.used.end());
  realize_all(all);
  std::vector<uint32_t> bits;
  for (const Tensor& t : all)
    for (float v : t.to_vector<float>()) bits.push_back(std::bit_cast<uint32_t>(v));
  return bits;
}

/// Expressions of the function, on the same tensors, that somebody holds for a while.
void hold(Random random, uint64_t seed, const State& state, const Tensor& x, std::vector<Tensor>& held) {
  if (random.chance(40)) return;
  held.clear();
  if (random.chance(40)) return;
  Random of_function{std::mt19937_64(seed)};
  for (const Tensor& t : steps(seed, of_function, state, x))
    if (random.chance(50)) held.push_back(t.clone());
}

/// The first call that gives something else, if any; adds the launches that later calls did without to `saved`.
std::optional<std::string> difference(uint64_t seed, uint64_t& saved) {
  const no_grad off;
  State plain, jitted;
  std::vector<Tensor> held;
  auto fast = jit([&](const Tensor& x) { return function(seed, jitted, x); });
  uint64_t most = 0;
  for (uint64_t i = 0; i < kCalls; ++i) {
    const Random random{std::mt19937_64(seed * 1000 + i)};
    for (State* s : {&plain, &jitted}) {
      change(random, *s);
      realize_all(s->used);
    }
    const Tensor x = square(i).realize();
    const std::vector<uint32_t> expected = call([&](const Tensor& t) { return function(seed, plain, t); }, plain, x, i);
    hold(Random{std::mt19937_64(seed * 1000 + 500 + i)}, seed, jitted, x, held);
    const uint64_t before = debug::counters().launches;
    const std::string place = "program " + std::to_string(seed) + ", call " + std::to_string(i);
    try {
      std::vector<uint32_t> got;
      {
        const float_modes::ScopedFloatMode caller(
            float_modes::kWithoutTraps[(seed + i) % float_modes::kWithoutTraps.size()]);
        got = call([&](const Tensor& t) { return fast(t); }, jitted, x, i);
      }
      if (got != expected) return place;
    } catch (const UsageError& error) {
      const bool right = reads(seed) && std::string(error.what()).find("reads or realizes") != std::string::npos;
      return right ? std::nullopt : std::optional(place + ": " + error.what());
    }
    const uint64_t launches = debug::counters().launches - before;
    most = std::max(most, launches);
    saved += most - launches;
  }
  return std::nullopt;
}

// -- functions of symbolic sizes

constexpr int64_t kRows = 12;

Tensor sized(uint64_t seed, const Dim& n) {
  std::vector<float> values;
  for (uint64_t i = 0; i < static_cast<uint64_t>(n.value() * kSize); ++i)
    values.push_back(static_cast<float>((seed * 11 + i * 5) % 17) / 8 - 1);
  return from(values, {n, kSize});
}

/// Two rows of a table from a place on, which a tensor says, or a number: to read, and to write.
struct Rows {
  Tensor at;
  std::optional<int64_t> number;
  Tensor read(const Tensor& table) const { return number ? table.narrow(0, *number, 2) : table.narrow(0, at, 2); }
  Place write(Tensor& table) const {
    if (!number) return table.at({Narrow{at, 2}});
    const int64_t first = *number < 0 ? *number + kRows : *number;
    return table.at({Slice{first, first + 2}});
  }
  Place write(Tensor& table, int64_t column) const {
    if (!number) return table.at({Narrow{at, 2}, column});
    const int64_t first = *number < 0 ? *number + kRows : *number;
    return table.at({Slice{first, first + 2}, column});
  }
};

/// What the function with this seed makes of x [n, kSize], the first n rows of a table and its rows at a place; it may
/// write to the table.
Tensor sized_function(uint64_t seed, Tensor& table, const Rows& rows, const Tensor& x, const Dim& n) {
  Random random{std::mt19937_64(seed)};
  std::vector<Tensor> values{x, table.slice(0, {0, n})};
  Tensor whole = table * 0.5;  // of fixed size
  const auto any = [&] { return values[random.below(values.size())]; };
  for (size_t i = 2 + random.below(6); i > 0; --i) {
    const Tensor a = any();
    switch (random.below(random.chance(10) ? 11 : 10)) {
      case 0: values.push_back(tanh(a) + any()); break;
      case 1: values.push_back(matmul(a, table.narrow(0, 3, kSize)) * 0.125); break;
      case 2: values.push_back(softmax(a, 0)); break;
      case 3: values.push_back(a - a.mean({0}, true)); break;
      case 4: values.push_back(matmul(matmul(a, any().transpose()), any()) * 0.03); break;
      case 5: values.push_back(a * rand(a.shape())); break;
      case 6: values.push_back(a + Tensor(n).to(float32)); break;
      case 7: values.push_back(a + rows.read(table).mean({0})); break;
      case 8: values.push_back(a.flip(0).contiguous()); break;
      case 9:
        whole = tanh(whole * a.mean({0})).contiguous();
        values.push_back(a + whole.slice(0, {0, n}));
        break;
      case 10: values.push_back(a * static_cast<double>(n.value())); break;
    }
  }
  const Tensor out = values.back() * 0.5 + whole.sum({0});
  if (random.chance(40)) {
    const Tensor row = tanh(any().sum({0}));
    if (random.chance(50))
      rows.write(table) = row;
    else
      rows.write(table, static_cast<int64_t>(random.below(kSize))) = row.slice(0, {0, 2});
  }
  if (random.chance(30)) table.at({Slice{0, n}}) = tanh(any()) * 0.25;
  return out;
}

/// Without jit the place is a number, from either end.
std::optional<std::string> sized_difference(uint64_t seed) {
  const no_grad off;
  const Var rows("rows", 1, kRows);
  Random random{std::mt19937_64(seed + 77)};
  Tensor plain = sized(seed, kRows).clone().realize(), jitted = sized(seed, kRows).clone().realize();
  auto fast = jit([&](const Tensor& x, const Tensor& place, const Dim& n) {
    return sized_function(seed, jitted, {place, {}}, x, n);
  });
  for (uint64_t i = 0; i < kCalls; ++i) {
    const Dim n = rows(static_cast<int64_t>(1 + random.below(kRows)));
    const int64_t first = static_cast<int64_t>(random.below(kRows - 1)),
                  number = random.chance(50) ? first : first - kRows;
    const Tensor x = sized(i, n), place = Tensor(number).contiguous().realize();
    manual_seed(i);
    const Tensor expected = sized_function(seed, plain, {place, number}, x, n);
    const std::vector<float> want = expected.to_vector<float>(), table = plain.to_vector<float>();
    manual_seed(i);
    const std::vector<float> got = fast(x, place, n).to_vector<float>();
    if (got != want || jitted.to_vector<float>() != table)
      return "program " + std::to_string(seed) + ", call " + std::to_string(i);
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("random jitted functions of symbolic sizes give what they give without jit", "[programs][jit]") {
  const uint64_t count = setting("FUZZ_PROGRAMS", 300) / 2, first = setting("FUZZ_SEED", 1);
  for (uint64_t seed = first; seed < first + count; ++seed) CHECK(sized_difference(seed).value_or("") == "");
}

TEST_CASE("each wrong rule of sizes and of dynamic slices is found by random jitted functions", "[.mutants]") {
  const auto [name, mutant] = GENERATE(
      table<std::string, fuzz::Mutant>({{"a program serves every size", fuzz::Mutant::SizesUnproven},
                                        {"a part begins at 0", fuzz::Mutant::NarrowAtStart},
                                        {"a part from the end begins too early", fuzz::Mutant::NarrowFromEnd}}));
  CAPTURE(name);
  std::optional<std::string> found;
  uint64_t seed = 0;
  {
    const fuzz::ScopedMutant fault(mutant);
    while (!found && ++seed < 400) found = sized_difference(seed);
  }
  CHECK(found);
  CHECK(sized_difference(seed).value_or("") == "");  // it was the fault
}

TEST_CASE("random jitted functions give what they give without jit", "[programs][jit]") {
  const uint64_t count = setting("FUZZ_PROGRAMS", 300), first = setting("FUZZ_SEED", 1);
  uint64_t saved = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) CHECK(difference(seed, saved).value_or("") == "");
  if (count >= 50) CHECK(saved > count / 2);
}

TEST_CASE("each wrong rule of what is kept, held and read is found by random jitted functions", "[.mutants]") {
  const auto [name, mutant] =
      GENERATE(table<std::string, fuzz::Mutant>({{"what is kept serves every version", fuzz::Mutant::KeptForever},
                                                 {"what the function assigns stays", fuzz::Mutant::KeptOfChanging},
                                                 {"a step's sources stay where it runs again", fuzz::Mutant::KeptApart},
                                                 {"random numbers stay", fuzz::Mutant::KeptRandom},
                                                 {"what LAPACK writes is not said", fuzz::Mutant::CallUndeclared},
                                                 {"who holds an equal expression counts", fuzz::Mutant::NotApart},
                                                 {"reads are not noticed", fuzz::Mutant::ReadsUnseen},
                                                 {"a call computes as its thread does", fuzz::Mutant::CallersFloats}}));
  CAPTURE(name);
  std::optional<std::string> found;
  uint64_t saved = 0, seed = 0;
  {
    const fuzz::ScopedMutant fault(mutant);
    while (!found && ++seed < 400) found = difference(seed, saved);
  }
  CHECK(found);
  CHECK(difference(seed, saved).value_or("") == "");  // it was the fault
}

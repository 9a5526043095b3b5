// Random long sums of float32, of up to 2^20 elements, in every way that memory, axes and factors can lie: each has the
// error of blocks, and the same bits fused, unfused, and on another number of threads. FUZZ_SUMS sets how many,
// FUZZ_SEED the first seed.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "fault.h"
#include "long_sums.h"
#include "on_cpu.h"
#include "runtime/cpu/thread_pool.h"
#include "schedule/simplify/scan_blocks.h"
#include "setting.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;
using fuzz::Mutant;
using long_sums::Terms;

namespace {

constexpr int kLongest = 20;                 ///< 2^20 elements a sum
constexpr int64_t kMost = int64_t{1} << 22;  ///< elements in all

struct Random {
  std::mt19937_64 engine;
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(0, 99) < percent; }
};

/// A random sum over some axes of a value of `shape`.
struct Sum {
  Terms terms;
  int64_t elements;                ///< of one sum
  Shape shape;                     ///< of what is summed: kept and reduced axes as they come
  std::vector<int64_t> reduced;    ///< axes
  std::vector<int64_t> in_memory;  ///< the order in which axes lie there
  bool flipped, sliced, padded, widened;
  enum class Form : uint8_t { Sum, Mean, Product, Einsum, Norm, LogSumExp, Gradient, Running } form;
  int users;      ///< what reads the sums: bits
  uint64_t seed;  ///< of the numbers

  std::string listing() const {
    static constexpr const char* kForms[] = {"sum",  "mean",      "product",  "einsum",
                                             "norm", "logsumexp", "gradient", "running"};
    std::vector<int64_t> sizes;
    for (const Dim& d : shape) sizes.push_back(d.value());
    return fmt::format("sum of seed {}: {} over {} of {}, in memory {}{}{}{}{}, users {}, {} terms\n", seed,
                       kForms[static_cast<size_t>(form)], reduced, sizes, in_memory, flipped ? ", flipped" : "",
                       sliced ? ", sliced" : "", padded ? ", padded" : "", widened ? ", 16 bits" : "", users,
                       terms == Terms::Equal ? "equal" : "uniform");
  }
};

Sum drawn(uint64_t seed, int longest) {
  Random r{std::mt19937_64(seed)};
  Sum s;
  s.seed = seed;
  s.terms = r.chance(50) ? Terms::Equal : Terms::Uniform;
  // How long, as one to three axes.
  int64_t left = (int64_t{1} << r.pick(10, longest - 1)) + r.pick(0, int64_t{1} << r.pick(8, longest - 1));
  std::vector<int64_t> sizes;
  for (int64_t axes = r.pick(1, 3); axes > 1; --axes) {
    sizes.push_back(r.chance(50) ? r.pick(2, 9) : r.pick(10, 300));
    left = std::max<int64_t>(left / sizes.back(), 2);
  }
  sizes.insert(sizes.begin() + r.pick(0, static_cast<int64_t>(sizes.size())), left);
  s.elements = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  std::vector<bool> is_reduced(sizes.size(), true);
  for (int64_t kept = r.pick(0, 2), room = kMost / s.elements; kept > 0; --kept) {
    const int64_t n = r.pick(1, std::clamp<int64_t>(room, 1, r.chance(20) ? 40 : 9)),
                  at = r.pick(0, static_cast<int64_t>(sizes.size()));
    sizes.insert(sizes.begin() + at, n);
    is_reduced.insert(is_reduced.begin() + at, false);
    room /= n;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    s.shape.push_back(sizes[i]);
    s.in_memory.push_back(static_cast<int64_t>(i));
    if (is_reduced[i]) s.reduced.push_back(static_cast<int64_t>(i));
  }
  if (r.chance(60)) std::shuffle(s.in_memory.begin(), s.in_memory.end(), r.engine);
  s.flipped = r.chance(15);
  s.sliced = r.chance(15);
  s.padded = r.chance(15);
  s.widened = r.chance(10);
  s.form = static_cast<Sum::Form>(r.pick(0, 7));
  s.users = static_cast<int>(r.pick(0, 7));
  return s;
}

/// The operand: stored as the drawn order says, and seen as the shape.
Tensor operand(const Sum& s) {
  std::mt19937_64 random(s.seed);
  Shape stored;
  std::vector<int64_t> back(s.in_memory.size());
  for (size_t i = 0; i < s.in_memory.size(); ++i) {
    const auto axis = static_cast<size_t>(s.in_memory[i]);
    stored.push_back(s.shape[axis].value() + (s.sliced && i == 0 ? 1 : 0));
    back[axis] = static_cast<int64_t>(i);
  }
  Tensor x = from(long_sums::terms(s.terms, stored.numel(), random), stored);
  if (s.widened) x = x.to(bfloat16);
  x = x.realize();
  if (s.sliced) x = x.slice(0, {.begin = 1});
  x = x.permute(back);
  return s.flipped ? x.flip(s.reduced[0]) : x;
}

/// Letters of axes for einsum.
std::string letters(const Sum& s, bool reduced) {
  std::string out;
  for (size_t i = 0; i < s.shape.rank(); ++i)
    if (reduced == (std::find(s.reduced.begin(), s.reduced.end(), static_cast<int64_t>(i)) != s.reduced.end()))
      out += static_cast<char>('a' + i);
  return out;
}

/// What the program makes of its operand, in the operand's type.
std::vector<Tensor> made_of(const Sum& s, Tensor x) {
  if (s.padded) {  // zeros change no sum
    std::vector<std::pair<int64_t, int64_t>> pads(s.shape.rank(), {0, 0});
    pads[static_cast<size_t>(s.reduced.back())] = {1, 2};
    x = x.pad(pads);
  }
  const std::vector<int64_t> axes = s.reduced;
  Shape row;  // a factor that has the reduced axes alone
  for (int64_t a : axes) row.push_back(x.shape()[static_cast<size_t>(a)].value());
  const auto factor = [&](const Shape& shape) { return full(shape, 1.0, x.dtype()).contiguous(); };
  Tensor y;
  switch (s.form) {
    case Sum::Form::Sum: y = x.sum(axes); break;
    case Sum::Form::Mean: y = x.mean(axes); break;
    case Sum::Form::Product: y = (x * factor(x.shape())).sum(axes); break;
    case Sum::Form::Einsum: {
      Shape with_columns = row;
      with_columns.push_back(5);
      std::string all;
      for (size_t i = 0; i < s.shape.rank(); ++i) all += static_cast<char>('a' + i);
      const std::string k = letters(s, true), kept = letters(s, false);
      y = einsum(all + "," + k + "z->" + kept + "z", {x, factor(with_columns)});
      break;
    }
    case Sum::Form::Norm: y = sqrt((x * x).sum(axes)); break;
    case Sum::Form::LogSumExp: y = logsumexp(x, axes); break;
    case Sum::Form::Gradient: {  // of what was repeated: the sum of what comes back
      Shape kept(x.shape());
      for (int64_t a : axes) kept[static_cast<size_t>(a)] = 1;
      const Tensor w = full(kept, 1.0, x.dtype()).contiguous().realize().requires_grad();
      y = gradient((w * x).sum(), {w})[0];
      break;
    }
    case Sum::Form::Running: {  // along one axis, and the last sums of it along the others
      y = cumsum(x, axes[0]) * 1.0;
      for (size_t i = 1; i < axes.size(); ++i) y = cumsum(y, axes[i]);
      for (int64_t a : axes) y = y.slice(a, {.begin = y.shape()[static_cast<size_t>(a)].value() / 2});
      break;
    }
  }
  std::vector<Tensor> out{y};
  if (s.users & 1) out.push_back(relu(y) * 0.5);
  if (s.users & 2 && s.form != Sum::Form::Einsum) out.push_back(x.mean(axes, true) * 3.0);
  if (s.users & 4) out.push_back(y + y.sum());
  return out;
}

std::vector<double> numbers(const std::vector<Tensor>& made) {
  realize_all(made);
  std::vector<double> out;
  for (const Tensor& t : made) {
    const std::vector<double> values = t.to(float64).to_vector<double>();
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

/// What is wrong with a random sum; empty if nothing is.
std::string fault_of(const Sum& s) {
  try {
    const Tensor x = operand(s);
    const auto narrow = [&] { return numbers(made_of(s, x.to(float32))); };
    const std::vector<double> exact = numbers(made_of(s, x.to(float64))), fused = narrow();
    // A program may have a single sum, whose error is rather larger than the mean of many.
    const double error = long_sums::error_of(fused, exact);
    double allowed = 1.5 * long_sums::allowed_error(s.terms, s.elements);
    if (s.form == Sum::Form::Running)
      for (int64_t axis : s.reduced)
        if (const int64_t n = s.shape[static_cast<size_t>(axis)].value(); n <= schedule::kLongestScan)
          allowed += static_cast<double>(n) * 0x1p-24;  // one chain
    if (!(error < allowed)) return fmt::format("the error is {}, {} is allowed", error, allowed);
    debug::set_executor(debug::Executor::Unfused);
    const std::vector<double> unfused = narrow();
    debug::set_executor(debug::Executor::Compiled);
    if (fused != unfused) return "the unfused form has other bits";
    if (default_device() == Device::cpu()) {
      const int before = runtime::cpu::thread_pool().threads();
      runtime::cpu::thread_pool().resize(before == 3 ? 2 : 3);
      debug::clear_plans();
      const std::vector<double> shared = narrow();
      runtime::cpu::thread_pool().resize(before);
      if (fused != shared) return "another number of threads has other bits";
    }
    return {};
  } catch (const std::exception& e) {
    debug::set_executor(debug::Executor::Compiled);
    return e.what();
  }
}

std::string fault_of(uint64_t seed, int longest = kLongest) {
  const Sum s = drawn(seed, longest);
  const std::string fault = fault_of(s);
  return fault.empty() ? fault : s.listing() + fault;
}

}  // namespace

TEST_CASE("random long sums have the error of blocks, and bits of their own", "[sums]") {
  const bool simulated = !(default_device() == Device::cpu());
  const uint64_t first = setting("FUZZ_SEED", 1),
                 count = setting("FUZZ_SUMS", (simulated ? 30 : 60) / SINTER_TEST_SHARE);
  for (uint64_t seed = first; seed < first + count; ++seed)
    if (const std::string fault = fault_of(seed, simulated ? 14 : kLongest); !fault.empty()) FAIL_CHECK(fault);
}

TEST_CASE("SINTER_CHECK passes random long sums", "[sums]") {
  const runtime_test::ScopedEnv check("SINTER_CHECK", "1");
  debug::clear_plans();
  for (uint64_t seed = 1; seed <= 30 / SINTER_TEST_SHARE; ++seed) {
    const Sum s = drawn(seed, 13);
    INFO(s.listing());
    CHECK_NOTHROW(numbers(made_of(s, operand(s).to(float32))));
  }
  debug::clear_plans();
}

TEST_CASE("each wrong rule of long sums is found by the random ones", "[.mutants]") {
  const OnCpu cpu;
  struct Row {
    Mutant mutant;
    const char* name;
  };
  const Row row = GENERATE(values<Row>({{Mutant::ChainUnbroken, "a long sum is one chain"},
                                        {Mutant::NoGroups, "all blocks of a sum are joined in one chain"},
                                        {Mutant::GroupAsBlock, "a point reduces a group in one chain"},
                                        {Mutant::ScanUnbroken, "a long scan is one chain"}}));
  CAPTURE(row.name);
  std::string found;
  uint64_t seed = 0;
  {
    const fuzz::ScopedMutant fault(row.mutant);
    while (found.empty() && ++seed < 400) found = fault_of(seed);
  }
  INFO(found);
  CHECK(found != "");
  CHECK(fault_of(seed) == "");  // it was the fault
}

// A translation unit costs a millisecond before its first line, so small kernels share one. The threads share the
// units; a single thread has one unit.
#include "runtime/cpu/translation_units.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/counters.h"
#include "runtime/base/process_exit.h"
#include "runtime/cpu/elf.h"
#include "runtime/cpu/start_threads.h"
#include "sinter/error.h"

namespace sinter::runtime::cpu {
namespace {

constexpr size_t kUnitBytes = 64 << 10;  ///< text per unit; small enough that threads finish together

using Unit = std::vector<size_t>;  ///< indices of kernels

/// Units of about equal size. The largest kernels are assigned first.
std::vector<Unit> split_into_units(std::span<const KernelSource* const> kernels, size_t threads, bool alone) {
  const auto bytes = [&](size_t k) { return kernels[k]->text.size(); };
  size_t total = 0;
  for (size_t k = 0; k < kernels.size(); ++k) total += bytes(k);
  const size_t shared = threads == 1 ? 1 : std::max(threads, total / kUnitBytes);
  const size_t count = alone ? kernels.size() : std::min(kernels.size(), shared);
  std::vector<size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return bytes(a) != bytes(b) ? bytes(a) > bytes(b) : a < b; });
  std::vector<Unit> units(count);
  std::vector<size_t> load(count);
  for (size_t k : order) {
    const size_t least = static_cast<size_t>(std::ranges::min_element(load) - load.begin());
    units[least].push_back(k);
    load[least] += bytes(k) + 1;
  }
  return units;
}

/// Extracts one kernel's part from its unit's object.
void extract_kernel(const KernelSource& kernel, const CompileResult& unit, bool library, CompileResult& out) {
  out = {unit.ok, unit.object, unit.log};
  if (!unit.ok || library) return;
  try {
    out.object = extract_entries(unit.object, entries_of(kernel));
  } catch (const BackendError& error) { out = {false, {}, error.what()}; }
}

void build_unit(const Unit& unit, std::span<const KernelSource* const> kernels, const Compiler& compiler,
                const Target& target, std::vector<CompileResult>& results) {
  const ProcessExitGuard work;
  std::string text;
  for (size_t k : unit) text += kernels[k]->text + "\n";
  const CompileResult shared = compiler.compile(text, target);
  count(counters().compiles, unit.size());
  for (size_t k : unit)
    if (shared.ok || unit.size() == 1)
      extract_kernel(*kernels[k], shared, compiler.makes_libraries(), results[k]);
    else
      build_unit({k}, kernels, compiler, target, results);
}

}  // namespace

std::vector<std::string> entries_of(const KernelSource& kernel) {
  std::vector<std::string> names{kernel.name};
  if (kernel.has_epilogue) names.push_back(kernel.name + "_finish");
  return names;
}

std::vector<CompileResult> build(std::span<const KernelSource* const> kernels, const Compiler& compiler,
                                 const Target& target) {
  std::vector<CompileResult> results(kernels.size());
  if (kernels.empty()) return results;
  const auto threads = static_cast<size_t>(helper_threads(target));
  const std::vector<Unit> units = split_into_units(kernels, threads, compiler.makes_libraries());

  run_in_parallel(units.size(), static_cast<int>(threads),
                  [&](size_t u) { build_unit(units[u], kernels, compiler, target, results); });
  return results;
}

}  // namespace sinter::runtime::cpu

// How the terms of a prediction join, and how they are printed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "codegen/loopschedule/mma_tile.h"
#include "codegen/tune/gpu/clock_model.h"
#include "codegen/tune/gpu/gpu_clocks.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

std::array<std::pair<const char*, double>, 6> list_of(const ClockTerms& t) {
  return {{{"issue", t.issue},
           {"tensor", t.tensor},
           {"shared", t.shared},
           {"l2", t.l2},
           {"memory", t.memory},
           {"latency", t.latency}}};
}

}  // namespace

double ClockTerms::clocks() const {
  double most = 1, sum = 0;
  for (const auto& [name, clocks] : list_of(*this)) most = std::max(most, clocks);
  for (const auto& [name, clocks] : list_of(*this)) sum += std::pow(clocks / most, kOverlap);
  return start + most * std::pow(sum, 1 / kOverlap);
}

const char* ClockTerms::bound() const {
  const auto list = list_of(*this);
  return std::ranges::max_element(list, [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

double ClockTerms::microseconds() const { return clocks() / kClocksPerMicrosecond; }

int resident_by_registers(int registers, int threads, const runtime::Target& target) {
  // Registers are given to warps by 8 a thread, to the same number of warps on each of four schedulers.
  const int64_t warps = gpu_clocks(target).registers / (round_up(registers, 8) * kWarp) / 4 * 4;
  return static_cast<int>(warps / ceil_div(threads, kWarp));
}

std::string to_string(const ClockTerms& t) {
  std::string out = fmt::format("{:.1f} us by {}:", t.microseconds(), t.bound());
  for (const auto& [name, clocks] : list_of(t)) out += fmt::format(" {} {:.0f}", name, clocks);
  if (t.reread > 0.01 * t.memory) out += fmt::format(" (reread {:.0f})", t.reread);
  return out + fmt::format(" start {:.0f}; {} blocks of {} threads, {} at once, {} registers", t.start, t.blocks,
                           t.threads, t.resident, t.registers);
}

}  // namespace sinter::codegen

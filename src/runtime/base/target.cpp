#include "runtime/base/target.h"

#include <fmt/core.h>

#include <string_view>

namespace sinter::runtime {

void set_isa(Target& target, const char* isa) {
  target.isa = isa;
  const bool v4 = target.isa == "x86-64-v4", v3 = target.isa == "x86-64-v3";
  target.vector_bytes = v4 ? 64 : v3 ? 32 : 16;
  target.vector_registers = v4 ? 32 : 16;
  target.fma = v3 || v4;
  target.masks = v4;
}

std::string Target::key() const {
  constexpr std::string_view kDialects[] = {"clang", "gcc", "cuda"};
  std::string text =
      fmt::format("{} vector={}x{} rate={} latency={} fma={} masks={} cache={}/{}/{}{} threads={} units={} {}", isa,
                  vector_bytes, vector_registers, multiplies_per_cycle, multiply_latency, fma, masks, l1, l2, l3,
                  near_l3 ? " near" : "", threads, parallel_units, kDialects[static_cast<int>(dialect)]);
  if (cuda()) text += fmt::format(" shared={}", shared);
  return text;
}

Target reference_target() {
  Target target;
  set_isa(target, "x86-64-v4");
  target.l1 = 48 << 10;
  target.l2 = 1 << 20;
  target.l3 = 32 << 20;
  target.near_l3 = true;
  target.threads = 2;
  target.parallel_units = 8;
  return target;
}

Target cuda_target(const CudaDevice& device) {
  Target target;
  target.isa = fmt::format("sm_{}", device.sm);
  target.vector_bytes = 16;  // a thread's widest access
  target.fma = true;
  target.l1 = 128 << 10;
  target.l2 = device.l2_bytes;
  target.threads = device.multiprocessors;
  target.parallel_units = 2 * device.multiprocessors;
  target.dialect = Dialect::Cuda;
  target.sm = device.sm;
  target.shared = device.shared_bytes;
  return target;
}

}  // namespace sinter::runtime

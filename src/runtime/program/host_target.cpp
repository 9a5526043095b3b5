// The host's CPU -> Target.
#include "runtime/program/host_target.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <utility>

#include "runtime/base/env.h"
#include "runtime/base/sanitizer.h"
#include "runtime/base/system_limits.h"
#include "runtime/cpu/compiler.h"
#include "runtime/cuda/context.h"

namespace sinter::runtime {
namespace {

/// Bytes of the last-level cache that a program may count on. Larger caches are shared by dozens of cores and by
/// other guests of the machine.
constexpr int64_t kLargestL3 = 32 << 20;

int64_t cache_bytes(int name, int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

/// The part of the last-level cache that one core can use. On some CPUs sysconf returns the sum over all cores, so
/// Linux's table is read first.
int64_t shared_cache_bytes(int64_t otherwise) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  int64_t kib = 0;
  return file >> kib && kib > 0 && file.get() == 'K' ? kib << 10 : cache_bytes(_SC_LEVEL3_CACHE_SIZE, otherwise);
}

// The only place that queries the CPU.
void read_cpu(Target& target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  set_isa(target, __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
                  : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
                  : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                                        : "x86-64");
  target.near_l3 = __builtin_cpu_is("amd");  // each chiplet has its own
  if (target.vector_bytes == 64 && __builtin_cpu_is("amdfam19h"))
    target.multiplies_per_cycle = 1;  // Zen 4 executes them in two halves
  if (__builtin_cpu_is("amdfam17h") || __builtin_cpu_is("haswell") || __builtin_cpu_is("broadwell"))
    target.multiply_latency = 5;  // Agner Fog, "Instruction tables"; amdfam17h: Zen to Zen 2
#else
#error "Sinter's CPU backend knows x86-64 only"
#endif
  if (kSanitizer == Sanitizer::Thread) target.vector_bytes = 16;  // TSan does not see wider accesses
  target.l1 = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, target.l1);
  target.l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE, target.l2);
  target.l3 = std::min(shared_cache_bytes(target.l3), kLargestL3);
}

std::atomic<const Target*> target_override{nullptr};

/// The host's Target for one environment and compiler. Earlier ones stay alive for callers that refer to them; only
/// tests change either often.
struct HostTargetNode {
  Target target;
  const HostTargetNode* before = nullptr;
};
std::atomic<const HostTargetNode*> host_targets{nullptr};

const Target& add_host_target(Target target, int threads, Dialect dialect) {
  target.threads = threads;
  target.parallel_units = 4 * threads;
  target.dialect = dialect;
  auto* const made = new HostTargetNode{std::move(target)};
  made->before = host_targets.exchange(made);
  return made->target;
}

}  // namespace

void set_host_target(const Target* target) { target_override = target; }

const Target& host_target() {
  if (const Target* target = target_override) return *target;
  static const Target& machine = *[] {
    auto* t = new Target;
    read_cpu(*t);
    t->threads = usable_cpus();
    return t;
  }();
  const int threads = env().threads ? env().threads : machine.threads;
  const Dialect dialect = compiler_dialect(machine);
  const HostTargetNode* const last = host_targets;  // called for every plan
  return last && last->target.threads == threads && last->target.dialect == dialect
             ? last->target
             : add_host_target(machine, threads, dialect);
}

const Target& target_of(Device device) {
  return device == Device::cpu() ? host_target() : cuda::Context::get(device.index())->target();
}

}  // namespace sinter::runtime

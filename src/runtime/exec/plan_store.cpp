// Keys of plans in the cache folder, and loading their programs.
#include "runtime/exec/plan_store.h"

#include "runtime/base/build_id.h"
#include "runtime/base/disk_cache.h"
#include "runtime/exec/plan_bytes.h"
#include "runtime/program/toolchain.h"

namespace sinter::runtime {
namespace {

constexpr const char* kEntry = "plan";

Hash128 key_of(const Hash128& program, const Toolchain& tools) {
  return HashBuilder().add(kPlanFormat).add(build_id()).add(tools.id()).add(program.low).add(program.high).hash();
}

}  // namespace

std::optional<Plan> load_plan(const Hash128& key, const Target& target) {
  const auto tools = toolchain_for(target);
  const auto bytes = DiskCache::current()->load(kEntry, key_of(key, *tools));
  std::optional<StoredPlan> stored = bytes ? plan_from_bytes(*bytes) : std::nullopt;
  if (!stored) return std::nullopt;
  stored->plan.programs = find_programs(stored->kernels, stored->keys, *tools);
  if (stored->plan.programs.size() != stored->kernels.size()) return std::nullopt;
  record_cache_origin(tools->origin(), tools->kind(),
                      target);  // a process that only loads entries also counts as filling the folder
  return std::move(stored->plan);
}

void store_plan(const Hash128& key, const Plan& plan, std::span<const KernelSource> kernels, const Target& target) {
  StoredPlan stored{plan, {kernels.begin(), kernels.end()}, {}};
  for (const auto& program : plan.programs) stored.keys.push_back(program->key());
  DiskCache::current()->store(kEntry, key_of(key, *toolchain_for(target)), to_bytes(stored), "");
}

}  // namespace sinter::runtime

// Roofline by number of threads: from a map, from the cache folder, or measured.
#include "runtime/cpu/roofline_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/base/disk_cache.h"
#include "runtime/base/fork.h"
#include "runtime/base/log.h"
#include "runtime/cpu/cpu_model.h"

namespace sinter::runtime::cpu {
namespace {

constexpr char kEntry[] = "roofs";

Hash128 key_of(int threads) {
  return HashBuilder().add("sinter roofs 2").add(cpu_model()).add(static_cast<uint64_t>(threads)).hash();
}

std::optional<Roofline> load(int threads) {
  const auto bytes = DiskCache::current()->load(kEntry, key_of(threads));
  Roofline roofs{};
  if (!bytes || bytes->size() != sizeof roofs) return std::nullopt;
  std::memcpy(&roofs, bytes->data(), sizeof roofs);
  const auto good = [](double rate) { return std::isfinite(rate) && rate > 0; };
  return good(roofs.flops) && good(roofs.copy) && good(roofs.read) ? std::optional(roofs) : std::nullopt;
}

void store(int threads, const Roofline& roofs) {
  DiskCache::current()->store(kEntry, key_of(threads), {reinterpret_cast<const char*>(&roofs), sizeof roofs}, "");
}

struct RooflineCache {
  RooflineCache() { hold_at_fork(mutex); }
  std::mutex mutex;
  std::map<int, Roofline> by_threads;
};
RooflineCache& cache() {
  static auto* all = new RooflineCache;  // never destroyed (SEMANTICS V7)
  return *all;
}

}  // namespace

Roofline cached_roofline(int threads) {
  threads = std::max(threads, 1);
  RooflineCache& all = cache();
  {
    std::lock_guard lock(all.mutex);
    if (auto it = all.by_threads.find(threads); it != all.by_threads.end()) return it->second;
  }
  std::optional<Roofline> roofs = load(threads);
  if (!roofs) store(threads, roofs.emplace(measure_roofline(threads)));
  {
    std::lock_guard lock(all.mutex);
    const auto [it, fresh] = all.by_threads.emplace(threads, *roofs);
    if (!fresh) return it->second;  // another thread was first
  }
  if (logging(2))
    log(2, fmt::format("roofs of {} thread{}: {:.2f} GFLOP/s, copy {:.2f} GB/s, read {:.2f} GB/s", threads,
                       threads == 1 ? "" : "s", roofs->flops * 1e-9, roofs->copy * 1e-9, roofs->read * 1e-9));
  return *roofs;
}

void clear_roofline_cache() {
  std::lock_guard lock(cache().mutex);
  cache().by_threads.clear();
}

}  // namespace sinter::runtime::cpu

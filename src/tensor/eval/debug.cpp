// Counters and switches of sinter/debug.h.
#include "sinter/debug.h"

#include <atomic>

#include "ir/tensor_graph.h"
#include "plan/plan_lookup.h"
#include "rewrite/rewriter.h"
#include "runtime/base/counters.h"
#include "runtime/base/env.h"
#include "runtime/cpu/host_allocator.h"
#include "runtime/exec/buffer.h"

namespace sinter::inline v0::debug {
namespace {

std::atomic<Executor>& chosen() {
  static std::atomic<Executor> executor{Executor::Compiled};
  return executor;
}
Counters base;  ///< totals at the last reset; guarded by the graph's mutex

/// The counts of what was done.
constexpr uint64_t Counters::* kDone[] = {
    &Counters::plans,          &Counters::plan_misses,  &Counters::plans_known,
    &Counters::partition_runs, &Counters::rewrite_runs, &Counters::compiles,
    &Counters::launches,       &Counters::bytes_moved,  &Counters::nodes_interpreted,
    &Counters::in_place,       &Counters::moved};

Counters total() {
  const runtime::EventCounters& c = runtime::counters();
  return {.plans = c.plans,
          .plan_misses = c.plan_misses,
          .plans_known = c.plans_known,
          .partition_runs = c.partition_runs,
          .rewrite_runs = ir::rewrite_runs(),
          .compiles = c.compiles,
          .launches = c.launches,
          .bytes_moved = c.bytes_moved,
          .nodes_interpreted = c.nodes_interpreted,
          .in_place = c.in_place,
          .moved = c.relocated};
}

}  // namespace

void set_executor(Executor executor) { chosen() = executor; }
Executor executor() {
  const Executor e = chosen();
  return e == Executor::Compiled && runtime::env().noopt ? Executor::Unfused : e;
}

Counters counters() {
  const ir::GraphScope scope;
  Counters out = total();
  for (uint64_t Counters::* count : kDone) out.*count -= base.*count;
  out.live_nodes = ir::TensorGraph::get().live_nodes();
  out.live_buffers = runtime::live_buffers();
  out.live_bytes = runtime::cpu::memory_stats().live;
  out.plan_entries = plan::PlanCache::get().size();
  return out;
}

void reset_counters() {
  const ir::GraphScope scope;
  base = total();
}

void clear_plans() {
  const ir::GraphScope scope;
  plan::PlanCache::get().clear();
  plan::forget_recent();
}

}  // namespace sinter::inline v0::debug

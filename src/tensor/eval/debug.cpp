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

Counters total() {
  runtime::EventCounters& c = runtime::counters();
  Counters out;
  out.plans = c.plans;
  out.plan_misses = c.plan_misses;
  out.plans_known = c.plans_known;
  out.partition_runs = c.partition_runs;
  out.rewrite_runs = ir::rewrite_runs();
  out.compiles = c.compiles;
  out.launches = c.launches;
  out.bytes_moved = c.bytes_moved;
  out.nodes_interpreted = c.nodes_interpreted;
  out.in_place = c.in_place;
  out.moved = c.relocated;
  return out;
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
  out.plans -= base.plans;
  out.plan_misses -= base.plan_misses;
  out.plans_known -= base.plans_known;
  out.partition_runs -= base.partition_runs;
  out.rewrite_runs -= base.rewrite_runs;
  out.compiles -= base.compiles;
  out.launches -= base.launches;
  out.bytes_moved -= base.bytes_moved;
  out.nodes_interpreted -= base.nodes_interpreted;
  out.in_place -= base.in_place;
  out.moved -= base.moved;
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

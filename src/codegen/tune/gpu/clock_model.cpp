// One pass over the statements.
#include "codegen/tune/gpu/clock_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "codegen/kernel/offset.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/nest/ring.h"
#include "codegen/nest/thread_digits.h"
#include "codegen/tune/gpu/accumulator_registers.h"
#include "codegen/tune/gpu/gpu_clocks.h"
#include "codegen/tune/gpu/instruction_count.h"
#include "codegen/tune/gpu/memory_traffic.h"
#include "codegen/tune/gpu/open_steps.h"
#include "codegen/tune/gpu/thread_loop.h"
#include "codegen/tune/gpu/warp_request.h"
#include "ir/ceil_div.h"
#include "ir/combine.h"
#include "ir/walk.h"
#include "rewrite/linear.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kWidestAccess = 16;  ///< bytes
constexpr int kMaxRegisters = 255;

class ClockModel {
 public:
  ClockModel(const Kernel& kernel, const LoopSchedule& schedule, const Statements& statements, FreeRanges& ranges,
             const runtime::Target& target)
      : kernel_(kernel), schedule_(schedule), statements_(statements), ranges_(ranges), target_(target) {}

  ClockTerms run() {
    terms_.threads = schedule_.threads;
    terms_.start = schedule_.last_block ? 0 : kLaunchClocks;
    terms_.blocks = 1;
    for (UOp r : schedule_.outer) terms_.blocks *= ceil_div(max_trip_count(r), schedule_.of(r).block);
    const std::vector<double> accumulators = accumulator_registers(statements_, schedule_, ranges_);
    instructions_ = kBlockInstructions;
    for (size_t i = 0; i < statements_.list.size(); ++i) add(statements_.list[i], accumulators[i]);
    finish();
    return terms_;
  }

 private:
  // ---- loops
  /// Depth of the innermost loop on which a node depends: 0 for none.
  size_t depth_of(UOp n, const std::vector<ThreadLoop>& loops) {
    for (size_t i = loops.size(); i-- > 0;)
      if (ranges_.depends(n, loops[i].range)) return i + 1;
    return 0;
  }
  static double iterations_to(const std::vector<ThreadLoop>& loops, size_t depth) {
    double n = 1;
    for (size_t i = 0; i < std::min(depth, loops.size()); ++i) n *= loops[i].iterations;
    return n;
  }

  // ---- statements
  void add(const Statement& s, double accumulators) {
    const std::vector<ThreadLoop> loops = thread_loops_of(s, schedule_, ranges_);
    if (s.mma) return add_tiles(s, loops, accumulators);
    const OpenSteps open = open_steps(s, loops, schedule_);
    const Tile* ring = ring_tile_filled_by(s, statements_);
    const bool async = ring && ring->tile_copy->async;
    const double before = instructions_;
    double registers = 0;                             // that hold loaded elements
    std::vector<std::pair<double, double>> accesses;  // iterations, latency of each
    for (UOp n : body_of(s.node)) {
      if ((n == s.node && n->op != Op::Store) || is_known(n, s) || open.decided.contains(n.get())) continue;
      const double iterations = iterations_to(loops, depth_of(n, loops));
      if (n->op == Op::Load || n->op == Op::Store) {
        const double latency = add_access(n, loops, iterations, async);
        if (n->op == Op::Store) continue;
        registers += copies_along(n, loops);
        accesses.emplace_back(iterations, latency);
      } else if (ir::is_alu(n->op)) {
        double copies = 1;
        for (const ThreadLoop& t : loops)
          if (ranges_.depends(n, t.range)) copies *= t.copies;
        instructions_ += instructions_of(n->op, n->dtype) * iterations * copies;
      }
    }
    double chain = s.is_reduce() ? add_updates(s, loops, open.copies) : s.is_scan() ? add_scan(s, loops) : 0;
    const double iterations = iterations_to(loops, loops.size());
    const double each = (instructions_ - before) / iterations;  // instructions of an iteration
    terms_.code += each;
    if (!loops.empty()) instructions_ += kLoopInstructions * iterations;
    if (async) {  // each block was begun so many iterations before
      chain += kGlobalLatency * std::max(1.0, iterations_to(loops, shared_depth(s)) / (ring->tile_copy->slots - 1));
    } else if (ring) {
      chain += kGlobalLatency;
    } else {
      // The compiler unrolls short bodies, so that loads of several iterations are under way together.
      const double ahead = std::clamp(kUnrolledInstructions / std::max(each, 1.0), 1.0, kIterationsAhead);
      double reading = 0;
      for (const auto& [times, latency] : accesses) reading = std::max(reading, latency * (1 + (times - 1) / ahead));
      chain = std::max(chain, reading);
    }
    double elements = 1;
    for (const ThreadLoop& t : loops)
      if (!t.own && ranges_.depends(s.node, t.range)) elements *= t.copies;
    if (ring)
      held_ += async ? 0 : elements;  // until the other slot is free
    else
      registers_ = std::max(registers_, kRegisterShare * (s.is_reduce() ? accumulators + std::min(registers, kMaxLoaded)
                                                                        : std::min(elements, kMaxLoaded)));
    latency_ += chain;
    if (slot_is_tile(s)) latency_ += kBarrier * iterations_to(loops, shared_depth(s));
  }
  /// Whether a statement in the same straight loops computed the value before.
  bool is_known(UOp n, const Statement& s) {
    const bool straight =
        std::ranges::any_of(s.loops, [&](const LoopLevel& l) { return l.straight && ranges_.depends(n, l.range); });
    return straight && ir::is_alu(n->op) && !known_.insert(n.get()).second;
  }
  /// Updates of accumulators by the share `open` of copies, and how chains of several threads are joined. Returns the
  /// latency of a chain.
  double add_updates(const Statement& s, const std::vector<ThreadLoop>& loops, double open) {
    double all = iterations_to(loops, loops.size()), once = all, chain = 1;  // `once`: for each shared accumulator
    for (const ThreadLoop& t : loops) {
      all *= t.copies;
      if (t.own || ranges_.depends(s.node->src[0], t.range)) once *= t.copies;
      if (t.own) chain *= t.iterations * t.copies;
    }
    const double step = is_float(s.node->dtype) && s.node->reduction().tree.mma ? kStepInstructions
                        : s.node->reduction().combine == ir::Combine::Dot       ? 1
                                                                                : step_instructions(s.node);
    instructions_ += step * all * open;
    if (const double shared = shared_step_instructions(s, ranges_); shared > 0) instructions_ -= shared * (all - once);
    const double outside = iterations_to(loops, s.carried() ? s.accumulator_depth : s.own_depth);
    double results = 1;
    for (const ThreadLoop& t : loops)
      if (!t.own) results *= t.copies;
    if (s.carried()) {  // accumulators are loaded and stored for each run of the inner loops
      instructions_ += 2 * results * outside;
      passes_ += 2 * results * outside;
    }
    double latency =
        chain / chains_per_thread(s, loops) * kArithmeticLatency * step * iterations_to(loops, s.own_depth);
    for (const ThreadLoop& t : loops) {
      if (!t.own || t.digits.empty()) continue;
      // Threads of a warp exchange results by shuffles, others through shared memory (emit/thread_reduce.cpp), many at
      // a time.
      const auto [count, stride, distance] = t.digits[0];
      const bool warps = schedule_.threads % kWarp == 0 && stride < kWarp;
      const double near = warps ? std::min(count, kWarp / stride) : 1, far = count / near;
      const double steps = std::log2(near) + 1, lanes = t.lanes;
      double instructions = steps * (1 + step) * lanes, join = steps * (kShuffle + step);
      if (far > 1) {
        double bytes = 0;  // of a result
        for (const DType d : ir::accumulator_types(s.node)) bytes += static_cast<double>(size_of(d));
        bytes *= static_cast<double>(schedule_.threads) * lanes;
        const double together =
            std::max(1.0, std::floor(static_cast<double>(joint_exchange_bytes(schedule_.threads)) / bytes));
        instructions += 1 + far + far * step * lanes;
        join += std::ceil(results / together) * (2 * kBarrier + kSharedLatency);
        passes_ += (far + 1) * bytes / (kWordBytes * schedule_.threads) * results * outside;
        exchanged_ = std::max(exchanged_, bytes * std::min(results, together));
      }
      instructions_ += instructions * results * outside;
      latency += (join + instructions * results) * outside;
    }
    return latency;
  }
  // ---- tensor cores
  /// A product in tiles of tensor cores: fragments of the factors, and one instruction for each tile and step.
  void add_tiles(const Statement& s, const std::vector<ThreadLoop>& loops, double accumulators) {
    const MmaDim along = mma_depth(s.node->src[0]->dtype);
    const int step = along.lanes * along.warp.copies;
    double all = iterations_to(loops, loops.size());
    for (const ThreadLoop& t : loops) all *= t.copies;
    all /= kMmaRows.warp.copies * kMmaColumns.lanes * step;
    const double before = instructions_;
    instructions_ += all + kLoopInstructions * iterations_to(loops, loops.size());
    tiles_ += all;
    const std::vector<ThreadLoop> of_factor = factor_loops(s, loops);
    double words = 0, reading = 0;
    const std::vector<UOp> values = values_of(s.node), factors = open_factors(s.node);
    if (const UOp predicate = common_predicate(s.node)) {
      instructions_ += all * kMmaRows.warp.copies * kMmaColumns.lanes;  // selects
      double conditions = 1;
      for (const ThreadLoop& t : loops)
        if (ranges_.depends(predicate, t.range)) conditions *= t.copies;
      words += kConditionRegisters * conditions;
    }
    for (UOp n : body_of(s.node)) {
      if (n == s.node || is_known(n, s)) continue;
      if (std::ranges::count(values, n) > std::ranges::count(factors, n)) continue;
      const double iterations = iterations_to(loops, depth_of(n, loops));
      double elements = 1;
      for (const ThreadLoop& t : of_factor)
        if (ranges_.depends(n, t.range)) elements *= t.copies;
      if (ir::is_alu(n->op)) instructions_ += instructions_of(n->op, n->dtype) * iterations * elements;
      if (s.at_once() && (n == values[0] || n == values[1]) && n->op != Op::Load)
        words += elements * static_cast<double>(size_of(n->dtype)) / 4;  // computed before, and held
      if (n->op != Op::Load) continue;
      const bool rows = ranges_.depends(n, s.mma->rows);
      const Tile* tile = tile_of(n);
      const UOp matrix = tile ? matrix_rows(*tile, rows ? s.mma->rows : s.mma->columns, s.loops.back().range) : UOp();
      words += elements / loops.back().copies * step * static_cast<double>(size_of(n->dtype)) / 4;
      if (matrix) {
        const double fragments = iterations * elements / (rows ? kMmaRows.warp.copies * step : step);
        const auto named = matrix_loops(s, loops, rows, !(matrix == s.loops.back().range));
        const AccessWidth row{static_cast<int64_t>(size_of(n->dtype)), matrix_row(n->dtype)};
        const double passes = request_of(*tile, named, schedule_.threads, row).passes / (rows ? 1 : 2);
        instructions_ += fragments * (1 + kAddressInstructions);
        passes_ += fragments * passes;
        reading = std::max(reading, kSharedLatency + passes * fragments / iterations);
      } else {
        const double latency = add_access(n, of_factor, iterations);
        instructions_ += 2 * elements * iterations;  // of packing
        reading = std::max(reading, latency * iterations / kIterationsAhead);
      }
    }
    terms_.code += (instructions_ - before) / iterations_to(loops, loops.size());
    double chain = 1;
    for (const ThreadLoop& t : loops)
      if (t.own) chain *= t.iterations * t.copies;
    latency_ += std::max(chain / step * kMmaLatency * iterations_to(loops, s.own_depth), reading);
    registers_ = std::max(registers_, kTileRegisterShare * (accumulators + words));
  }
  /// A SCAN runs element by element. Returns the latency of its chain.
  double add_scan(const Statement& s, const std::vector<ThreadLoop>& loops) {
    const double step = step_instructions(s.node), all = iterations_to(loops, loops.size());
    instructions_ += step * all;
    return step * all * kArithmeticLatency;
  }
  bool slot_is_tile(const Statement& s) const { return s.node->op == Op::Store && slot_of(s.node) >= kernel_.params; }
  static size_t shared_depth(const Statement& s) {
    size_t n = 0;
    while (n < s.loops.size() && !s.loops[n].fills) ++n;
    return n == s.loops.size() ? 0 : n;
  }

  // ---- memory
  /// Distinct elements that a thread touches in one iteration. Copies along two ranges of one stride share elements, as
  /// those of a window do.
  double copies_along(UOp access, const std::vector<ThreadLoop>& loops) {
    std::map<int64_t, double> by_stride;
    double scattered = 1;
    for (const ThreadLoop& t : loops) {
      if (t.copies <= 1 || !ranges_.depends(access, t.range)) continue;
      const auto stride = stride_of(access, t.range);
      if (!stride)
        scattered *= t.copies;
      else if (auto [it, fresh] = by_stride.try_emplace(*stride, t.copies); !fresh)
        it->second += t.copies - 1;
    }
    for (const auto& [stride, copies] : by_stride) scattered *= copies;
    return scattered;
  }
  const Tile* tile_of(UOp access) const {
    const int64_t slot = slot_of(access) - kernel_.params;
    return slot < 0 ? nullptr : &statements_.tiles[slot];
  }
  std::optional<int64_t> stride_of(UOp access, UOp range) {
    if (const Tile* tile = tile_of(access)) {
      for (const Tile::TileDim& d : tile->dims)
        if (const int64_t stride = d.stride_along(range)) return stride;
      return 0;
    }
    return stride_along(offset_expr(access), range, ranges_);
  }
  const ir::LinearExpr& offset_expr(UOp access) {
    auto [it, fresh] = offsets_.try_emplace(access.get());
    if (fresh) it->second = offset_of(access);
    return it->second;
  }
  /// Adjacent elements that an access touches along a range, up to `most`.
  int64_t run_along(UOp access, UOp range, int64_t most) {
    if (stride_of(access, range) == 1) return most;
    const auto at = [&](int64_t i) {
      return element_at(offset_expr(access), [&](UOp r) { return r == range ? i : int64_t{0}; });
    };
    const std::optional<int64_t> first = at(0);
    int64_t run = 1;
    while (first && run < std::min(most, kSector) && at(run) == *first + run) ++run;
    return run;
  }
  /// Adds the requests of an access that a thread makes `iterations` times. Returns its latency. `async`: of a copy
  /// that is one instruction for a LOAD and a STORE.
  double add_access(UOp access, const std::vector<ThreadLoop>& loops, double iterations, bool async = false) {
    const Tile* tile = tile_of(access);
    const auto size = static_cast<int64_t>(size_of(access->src[0]->dtype));
    // Adjacent lanes are one access of up to 16 bytes; so are copies without lanes, unless threads stand between them.
    int64_t vector = 1;
    for (const ThreadLoop& t : loops) {
      if (!ranges_.depends(access, t.range) || stride_of(access, t.range) != 1) continue;
      const auto together = static_cast<int64_t>(t.lanes > 1 || !t.digits.empty() ? t.lanes : t.copies);
      auto v = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::min(kWidestAccess / size, together))));
      while (v > 1 && (together % v || !aligned(access, t.range, loops, v))) v /= 2;
      vector = std::max(vector, v);
    }
    const double requests = iterations * copies_along(access, loops) / static_cast<double>(vector);
    if (!async || access->op == Op::Load) instructions_ += requests * (1 + kAddressInstructions);
    const WarpRequest warp = tile ? request_of(*tile, loops, schedule_.threads, {size, vector})
                                  : request_of(offset_expr(access), loops, schedule_.threads, {size, vector},
                                               starts_of(access, loops, size));
    passes_ += requests * warp.passes * (tile ? 1 : kL1Pass);
    const double serial = warp.passes * requests / iterations;  // what one warp waits for its own passes
    if (tile) return kSharedLatency + serial;
    const double missed = add_traffic(access, loops, size, requests * warp.sectors * kSector, async ? kAsyncBytes : 1);
    return kL1Latency + missed * kGlobalLatency + serial;
  }
  /// Whether vectors of `v` elements begin at whole vectors in memory.
  bool aligned(UOp access, UOp along, const std::vector<ThreadLoop>& loops, int64_t v) {
    const Tile* tile = tile_of(access);
    for (const ThreadLoop& t : loops) {
      if (t.range == along || !ranges_.depends(access, t.range)) continue;
      const auto stride = stride_of(access, t.range);
      if (!stride || *stride * t.step % v) return false;
    }
    if (tile) return true;
    for (UOp r : schedule_.outer)
      if (ranges_.depends(access, r) && !(r == along)) {
        const auto stride = stride_of(access, r);
        if (!stride || *stride % v) return false;
      }
    const UOp predicate = predicate_of(access);
    return predicate && ranges_.depends(predicate, along) ? v == 1 : offsets_[access.get()].constant % v == 0;
  }
  /// Where requests of different iterations begin, as bytes: 0, and a step of each loop that is no whole sectors.
  std::vector<int64_t> starts_of(UOp access, const std::vector<ThreadLoop>& loops, int64_t size) {
    std::vector<int64_t> starts{0};
    for (const ThreadLoop& t : loops) {
      if (t.iterations <= 1 || !ranges_.depends(access, t.range)) continue;
      const int64_t step = stride_of(access, t.range).value_or(0) * t.step * size;
      if (step % kSector) starts.push_back(step);
    }
    return starts;
  }

  /// Bytes of L2 and memory. L1 serves what a block reads again. Returns the share of requests that miss it.
  double add_traffic(UOp access, const std::vector<ThreadLoop>& loops, int64_t size, double requested, double weight) {
    double footprint = static_cast<double>(size), all = footprint;
    int64_t run = 1;  // adjacent elements
    for (const ThreadLoop& t : loops)
      if (ranges_.depends(access, t.range)) run = std::max(run, run_along(access, t.range, t.extent));
    std::set<ir::Node*> met;
    std::map<int64_t, double> positions;  // by stride: windows overlap
    for (size_t i = 0; i < loops.size(); ++i) {
      if (!ranges_.depends(access, loops[i].range) || !met.insert(loops[i].range.get()).second) continue;
      const auto extent = static_cast<double>(loops[i].extent);
      const auto stride = stride_of(access, loops[i].range);
      if (!stride || *stride == 0)
        footprint *= extent;
      else if (auto [it, fresh] = positions.try_emplace(std::abs(*stride), extent); !fresh)
        it->second += extent - 1;
    }
    for (const auto& [stride, extent] : positions) footprint *= extent;
    for (const LoopAxis& a : schedule_.axes)
      if (ranges_.depends(access, a.range)) all *= static_cast<double>(max_trip_count(a.range));
    const double buffer = static_cast<double>(access->src[0]->shape.bound() * size);
    footprint = std::min(footprint, buffer) * std::max(1.0, double(kSector) / double(run * size));
    const double warps = static_cast<double>(ceil_div(schedule_.threads, kWarp));
    BufferTraffic& traffic = traffic_[{slot_of(access), access->op == Op::Store}];
    const double block = std::min(requested * warps, footprint);
    traffic.l2 = std::max(traffic.l2, weight * block);
    traffic.once = std::max(traffic.once, std::min(all, buffer));
    if (block > traffic.block) {
      traffic.block = block;
      traffic.outer.clear();
      for (UOp r : schedule_.outer)
        if (ranges_.depends(access, r)) traffic.outer.push_back(r);
    }
    return std::min(1.0, footprint / std::max(requested * warps, 1.0));
  }

  // ---- the launch
  void finish() {
    const GpuClocks machine = gpu_clocks(target_);
    double tiles = 0;
    for (const Tile& t : statements_.tiles)
      tiles += static_cast<double>(t.size * static_cast<int64_t>(size_of(t.dtype)));
    const double shared = tiles + exchanged_;
    terms_.registers = kBaseRegisters + static_cast<int>(std::min(registers_ + kRegisterShare * held_, 1e6));
    // The compiler keeps to what a block of this size can have.
    const int most = std::min<int>(kMaxRegisters,
                                   static_cast<int>(machine.registers / (round_up(terms_.threads, 4 * kWarp) * 8) * 8));
    int64_t resident = std::min<int64_t>(schedule_.occupancy ? schedule_.occupancy : machine.max_blocks,
                                         machine.max_threads / std::max(terms_.threads, kWarp));
    resident =
        std::min<int64_t>(resident, resident_by_registers(std::min(terms_.registers, most), terms_.threads, target_));
    if (shared > 0)
      resident = std::min(resident, static_cast<int64_t>(static_cast<double>(machine.shared) / (shared + 1024)));
    const int64_t kept = reduces_across_threads(statements_) ? kReductionScratchBytes : 0;
    if (tiles > static_cast<double>(target_.shared - kept)) resident = 0;
    terms_.resident = static_cast<int>(resident);
    const auto units = static_cast<double>(std::max(target_.threads, 1));
    const auto blocks = static_cast<double>(terms_.blocks);
    const double each = std::ceil(blocks / units);  // blocks of the busiest multiprocessor
    const double warps = static_cast<double>(ceil_div(terms_.threads, kWarp));
    // What does not fit the registers goes through L1, there and back, again and again.
    const double spills = 1 + std::max(0, terms_.registers - most) / kSpilled;
    // Few warps leave clocks unused in which all of them wait.
    const double held = std::max(1.0, std::min(each, static_cast<double>(resident))) * warps / 4;
    terms_.issue = each * instructions_ * spills * warps / 4 * (1 + std::min(kMaxUnused, kUnused / (held * held)));
    terms_.tensor = each * tiles_ * warps * kMmaClocks;
    terms_.shared = each * passes_ * spills * warps;
    double l2 = 0, once = 0, weighted = 0;
    for (const auto& [access, t] : traffic_) {
      l2 += t.l2, once += t.once, weighted += t.once * (access.second ? 2 - machine.read_share : machine.read_share);
    }
    terms_.l2 = each * l2 / machine.l2_bytes;
    terms_.touched = once;
    const bool near = once <= static_cast<double>(target_.l2) / 2;
    terms_.memory = (near ? once / machine.l2_bytes : weighted / machine.memory_bytes) / units;
    const double wave = std::min(blocks, units * std::max<double>(static_cast<double>(resident), 1));
    terms_.reread = bytes_reread(traffic_, schedule_, blocks, wave, target_) / (units * machine.memory_bytes);
    terms_.memory += terms_.reread;
    terms_.latency = std::ceil(blocks / (units * std::max<double>(static_cast<double>(resident), 0.1))) * latency_;
  }

  const Kernel& kernel_;
  const LoopSchedule& schedule_;
  const Statements& statements_;
  FreeRanges& ranges_;
  const runtime::Target& target_;
  std::unordered_map<ir::Node*, ir::LinearExpr> offsets_;
  ClockTerms terms_;
  std::set<ir::Node*> known_;  ///< values that a statement in straight loops computes
  // Of one thread or block:
  double instructions_ = 0;  ///< of a thread
  double passes_ = 0;        ///< of a warp
  double tiles_ = 0;         ///< of a warp: tiles of tensor cores
  double latency_ = 0;
  double exchanged_ = 0;             ///< bytes of shared memory in which threads exchange results
  double registers_ = 0, held_ = 0;  ///< of accumulators and operands; of elements on their way to a ring
  MemoryTraffic traffic_;
};

}  // namespace

std::optional<ClockTerms> predict_clocks(const Kernel& kernel, const std::vector<Opt>& opts,
                                         const runtime::Target& target) {
  try {
    LoopNest nest = make_loop_nest(kernel, opts);
    return ClockModel(kernel, nest.schedule, nest.statements, nest.ranges, target).run();
  } catch (const IllegalOpt&) { return std::nullopt; }
}

}  // namespace sinter::codegen

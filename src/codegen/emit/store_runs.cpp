// A rolled loop cannot number registers, so the results of REDUCEs move up: each iteration stores those in the first
// variables, and then the others take their place.
#include "codegen/emit/store_runs.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "codegen/kernel/access.h"
#include "codegen/kernel/offset.h"
#include "ir/contains.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kLongText = 1200;  ///< operations from which on a run is rolled: NVRTC takes a second for 6,000

/// Whether both differ between the same copies.
bool same_copies(const UnrolledCopies& copies, FreeRanges& ranges, UOp a, UOp b) {
  return std::ranges::all_of(copies.open(),
                             [&](const auto& o) { return ranges.depends(a, o.first) == ranges.depends(b, o.first); });
}

}  // namespace

bool StoreRuns::joins(const LoopItem& item, std::span<const LoopItem> run) const {
  if (item.kind != LoopItem::ItemKind::Store) return false;
  const Statement& s = at(item);
  if (s.node->integer() != 0 || slot_of(s.node) >= kernel_.params) return false;  // a scatter, or a tile
  if (!same_copies(unrolled_copies_, ranges_, s.node, at(run.front()).node)) return false;
  return std::ranges::none_of(s.deps, [&](const Dependence& d) {
    return d.reason == Dependence::Reason::Memory &&
           std::ranges::any_of(run, [&](const LoopItem& before) { return before.statement == d.on; });
  });
}

size_t StoreRuns::length(std::span<const LoopItem> items, size_t first) const {
  size_t count = 0;
  while (first + count < items.size() && joins(items[first + count], items.subspan(first, std::max<size_t>(count, 1))))
    ++count;
  return std::max<size_t>(count, 1);
}

void StoreRuns::emit_copies(std::span<const LoopItem> run, const std::function<void(const Statement&)>& store) {
  unrolled_copies_.for_each(at(run.front()).node, false, [&] {
    for (const LoopItem& item : run) {
      values_.set_statement(at(item));
      store(at(item));
    }
  });
}

/// All nodes of a run, each once.
std::vector<UOp> StoreRuns::nodes_of(std::span<const LoopItem> run) const {
  std::vector<UOp> stores;
  for (const LoopItem& item : run) stores.push_back(at(item).node);
  return ir::topological(stores, [](UOp n) { return !has_accumulators(n); });
}

/// Elements of n over its unrolled copies.
int64_t StoreRuns::copies_of(UOp n) const {
  int64_t all = values_.lanes(n);
  for (const auto& [range, count] : unrolled_copies_.open())
    if (ranges_.depends(n, range)) all *= count;
  return all;
}

/// Whether a result is read from memory.
bool StoreRuns::is_carried(UOp result) const {
  const UOp first = result_of(result, 0);
  return std::ranges::any_of(statements_.list, [&](const Statement& s) { return s.node == first && s.carried(); });
}

/// Whether vectors stay whole, and all that differs between the copies of a range is known where they are stored.
bool StoreRuns::can_roll(UOp range, const std::vector<UOp>& nodes) const {
  if (!values_.can_shift(range)) return false;
  return std::ranges::none_of(nodes, [&](UOp n) {
    if (n->op == Op::Store && n->integer() != 0) return true;  // a scatter takes its updates in order
    if (!ranges_.depends(n, range)) return n->op == Op::Store;
    if (n->op == Op::Scan || (n->op == Op::Reduce && is_carried(n))) return true;
    if (n->op != Op::Load && n->op != Op::Store) return false;
    if (slot_of(n) >= kernel_.params) return true;
    return values_.lanes(n) == 1 && stride_along(offset_of(n), range, ranges_) == 1;  // copies are its vectors
  });
}

/// The range with the most iterations, where the text is long.
std::optional<StoreRuns::Roll> StoreRuns::roll_of(std::span<const LoopItem> run, const std::vector<UOp>& nodes) const {
  int64_t operations = 0;
  for (UOp n : nodes)
    if (ir::is_alu(n->op) || n->op == Op::Load || n->op == Op::Store) operations += copies_of(n);
  if (operations <= kLongText || std::ranges::any_of(run, [&](const LoopItem& i) { return at(i).nontemporal; }))
    return {};
  std::optional<Roll> best;
  const auto iterations = [](const Roll& r) { return r.count / r.copies.together; };
  for (const auto& [range, count] : unrolled_copies_.open()) {
    if (!can_roll(range, nodes)) continue;
    const Roll roll{range, count, values_.copy_distance(range)};
    if (iterations(roll) > (best ? iterations(*best) : 1)) best = roll;
  }
  return best;
}

/// The results of REDUCEs that differ between the copies of a range.
std::vector<UOp> StoreRuns::results_along(UOp range, const std::vector<UOp>& nodes) const {
  std::vector<UOp> results;
  for (UOp n : nodes)
    if (n->op == Op::Reduce && ranges_.depends(n, range)) results.push_back(n);
  return results;
}

void StoreRuns::emit(std::span<const LoopItem> run, const std::function<void(const Statement&)>& store) {
  const std::vector<UOp> nodes = nodes_of(run);
  const std::optional<Roll> roll = roll_of(run, nodes);
  if (!roll) return emit_copies(run, store);
  const std::vector<UOp> results = results_along(roll->range, nodes);
  // By result, copies of other ranges, and copy of the rolled range.
  std::map<std::tuple<size_t, uint64_t, int>, Id> variables;
  const auto for_each_result = [&](const auto& body) {
    for (size_t i = 0; i < results.size(); ++i)
      unrolled_copies_.for_each(results[i], false, [&] {
        const uint64_t others = values_.copy_key(results[i], {roll->range});
        body(results[i], variables[{i, others, values_.copy_of(roll->range)}]);
      });
  };
  for_each_result([&](UOp n, Id& variable) {
    const Id first = values_.value(n);
    variable = emit_.insert_here({InstCode::Accumulator, emit_.type(first), {first}, 1});
  });
  const auto read = [&](Id v) { return emit_.insert_here({InstCode::AccumulatorRead, emit_.type(v), {v}}); };
  const auto [near, step, together] = roll->copies;
  const Id from = emit_.open_loop(emit_.number(0), emit_.number(roll->count / together * step), step,
                                  "copies of results", LoopText::Rolled);
  unrolled_copies_.with_fewer(roll->range, together, [&] {
    values_.shift(roll->range, from);
    for_each_result([&](UOp n, Id& variable) { values_.set_result(n, read(variable)); });
    emit_copies(run, store);
    values_.leave();
  });
  for (const auto& [at, variable] : variables) {
    const auto& [result, others, copy] = at;
    if (const auto next = variables.find({result, others, copy + together}); next != variables.end())
      emit_.insert_here({InstCode::AccumulatorWrite, {}, {variable, read(next->second)}});
  }
  emit_.close();
}

}  // namespace sinter::codegen

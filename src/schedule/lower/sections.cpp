// Finds the range and its constants, then rebuilds the kernel for each section.
#include "schedule/lower/sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/rebuild.h"
#include "ir/walk.h"
#include "rewrite/linear.h"
#include "rewrite/rewriter.h"
#include "rewrite/rules/rules.h"
#include "schedule/lower/dedup_kernels.h"

namespace sinter::schedule {
namespace {

constexpr size_t kFewSections = 8;  ///< sections that one kernel may select among

bool is_outer_range(UOp n) { return n->op == Op::Range && codegen::is_outer(n); }

struct SplitPoints {
  UOp range;
  std::set<int64_t> places;  ///< begins of sections, without the first
};

/// Per outer range id, the values at which predicates change.
std::map<int, SplitPoints> split_points_of(UOp sink) {
  std::map<int, SplitPoints> out;
  for (UOp n : ir::topological(sink)) {
    if (n->op != Op::Lt && n->op != Op::Le) continue;
    int64_t c = 0, size = 0;
    const bool left = is_outer_range(n->src[0]) && ir::constant_of(n->src[1], c);
    if (!left && !(is_outer_range(n->src[1]) && ir::constant_of(n->src[0], c))) continue;
    UOp range = n->src[left ? 0 : 1];
    if (!ir::constant_of(range->src[0], size)) continue;
    const int64_t place = (n->op == Op::Le) == left ? c + 1 : c;  // r <= c and c < r, or r < c and c <= r
    if (place <= 0 || place >= size) continue;
    SplitPoints& changes = out[codegen::range_id(range)];
    changes.range = range;
    changes.places.insert(place);
  }
  return out;
}

/// Numbers Params and Args by first use and drops unused ones.
void renumber(KernelInstance& part) {
  std::map<int, int> params, args;
  codegen::Kernel& kernel = part.kernel;
  for (UOp n : nodes_of(kernel)) {
    if (n->op == Op::Param && params.try_emplace(static_cast<int>(n->integer()), params.size()).second)
      part.buffers.push_back(static_cast<int>(n->integer()));
    if (n->op == Op::Arg && args.try_emplace(static_cast<int>(n->integer()), args.size()).second) {
      part.args.push_back(static_cast<int>(n->integer()));
      kernel.args.push_back(n->dtype);
    }
    if (n->op == Op::Var && !ir::contains(kernel.vars, n->get<Var>())) kernel.vars.push_back(n->get<Var>());
  }
  kernel.sink = ir::rebuild(*kernel.graph, kernel.sink, [&](UOp n, const std::vector<UOp>&) -> UOp {
    if (n->op == Op::Param)
      return ir::param(*kernel.graph, params.at(static_cast<int>(n->integer())), n->dtype, n->shape, n->device);
    if (n->op == Op::Arg)
      return ir::argument(*kernel.graph, args.at(static_cast<int>(n->integer())), n->dtype, n->device);
    return {};
  });
  kernel.params = static_cast<int>(part.buffers.size());
}

KernelInstance section(const codegen::Kernel& whole, UOp range, int64_t begin, int64_t end) {
  KernelInstance part;
  codegen::Kernel& kernel = part.kernel;
  const auto graph = std::make_shared<ir::Arena>();
  UOp sink = ir::rebuild(*graph, whole.sink, [&](UOp n, const std::vector<UOp>&) -> UOp {
    if (n != range) return {};
    UOp size = ir::constant(*graph, DType::Index, end - begin);
    UOp inside = ir::range(size, codegen::range_id(n), ir::AxisKind::Outer);
    return begin ? inside + ir::constant(*graph, DType::Index, begin) : inside;
  });
  kernel.graph = graph;
  kernel.sink = ir::rewrite(*graph, sink, ir::simplify_rules(), "sections");
  kernel.outer = whole.outer;
  kernel.outer[codegen::range_id(range)] = end - begin;
  kernel.name = fmt::format("{}_of_{}", end - begin, whole.name);
  renumber(part);
  return part;
}

/// Empty if the kernel is not split.
std::vector<KernelInstance> split(const codegen::Kernel& whole) {
  const std::map<int, SplitPoints> changes = split_points_of(whole.sink);
  const auto most = std::ranges::max_element(
      changes, [](const auto& a, const auto& b) { return a.second.places.size() < b.second.places.size(); });
  if (most == changes.end() || most->second.places.size() < kFewSections) return {};
  const UOp range = most->second.range;
  codegen::FreeRanges ranges;
  for (UOp store : whole.sink->src)  // without the range it runs at the first index only
    if (!ranges.depends(store, range)) return {};
  int64_t begin = 0;
  std::vector<int64_t> ends(most->second.places.begin(), most->second.places.end());
  ends.push_back(whole.outer[most->first].value());
  return ir::mapped(ends, [&](int64_t end) { return section(whole, range, std::exchange(begin, end), end); });
}

}  // namespace

const SectionSplit::SectionedKernel* SectionSplit::find(const codegen::Kernel& whole, uint64_t hash) const {
  for (auto [it, last] = cuts_.equal_range(hash); it != last; ++it)
    if (same_kernel(it->second.whole, whole)) return &it->second;
  return nullptr;
}

std::vector<KernelInstance> SectionSplit::of(KernelInstance whole) {
  std::vector<KernelInstance> out;
  const bool many = whole.buffers.size() > kFewSections &&
                    !whole.kernel.epilogue_sink;  // epilogue ranges are numbered after those of the sink
  const uint64_t hash = many ? hash_kernel(whole.kernel) : 0;
  const SectionedKernel* cut = many ? find(whole.kernel, hash) : nullptr;
  if (many && !cut) cut = &cuts_.emplace(hash, SectionedKernel{whole.kernel, split(whole.kernel)})->second;
  if (!cut || cut->parts.empty()) {
    out.push_back(std::move(whole));
    return out;
  }
  for (const KernelInstance& part : cut->parts) {
    KernelInstance& mine = out.emplace_back(part);
    for (int& b : mine.buffers) b = whole.buffers[b];
    for (int& a : mine.args) a = whole.args[a];
    for (int b : whole.writes)
      if (ir::contains(mine.buffers, b)) mine.writes.push_back(b);
  }
  return out;
}

}  // namespace sinter::schedule

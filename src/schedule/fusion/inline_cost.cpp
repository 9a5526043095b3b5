// The price of evaluating a node inside a kernel, and whether it is legal.
#include "schedule/fusion/partitioner.h"

namespace sinter::schedule {

/// Whether there are buffers left for the node's sources: every wanted node may become a buffer that is read.
bool Partitioner::fits(const FusionGroup& k, int s, bool stores) const {
  size_t buffers = k.reads.size() + k.wanted.size() - 1 + k.outputs.size() + (stores ? 1 : 0);
  for (const FusionEdge& src : node(s).sources)
    if (src.node >= 0 && !k.wanted.contains(src.node) && !k.reads.contains(src.node)) ++buffers;
  return buffers <= static_cast<size_t>(prices_.max_buffers);
}

/// Whether the index covers each element of the node once. It may lack outer ranges: the value is then stored by their
/// first task.
bool Partitioner::aligned(const FusionNode& s, IndexId ix) const {
  const FusionIndex& index = space_[ix];
  std::vector<int> axes;
  for (size_t i = 0; i < index.size(); ++i)
    if (!space_.covers(index[i], s.uop->shape[i].bound(), axes)) return false;
  std::ranges::sort(axes);
  return std::adjacent_find(axes.begin(), axes.end()) == axes.end();
}

/// Time to read those sources that the kernel does not read or need already.
double Partitioner::reads_of(const FusionNode& s, const FusionGroup* k) const {
  double ns = 0;
  for (size_t i = 0; i < s.sources.size(); ++i) {
    const int from = s.sources[i].node;
    if (from < 0 || (k && (k->wanted.contains(from) || k->reads.contains(from)))) continue;
    const bool again = std::any_of(s.sources.begin(), s.sources.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const FusionEdge& other) { return other.node == from; });
    if (!again) ns += prices_.transfer(node(from).read_bytes);
  }
  return ns;
}

/// The inner loops that may be open where the kernel computes node `number` at this index: those the value depends on.
/// If one of them is the loop of a reduction that uses it, also the loops around that reduction.
std::vector<int> Partitioner::loops_around(const FusionGroup& k, int number, IndexId ix) const {
  std::vector<int> open;
  std::vector<std::pair<int, IndexId>> todo{{number, ix}};
  for (size_t i = 0; i < todo.size(); ++i) {
    std::vector<int> inner = space_.axes_of(todo[i].second);
    std::erase_if(inner, [&](int a) { return contains(k.outer, a); });
    for (int a : inner) add_once(open, a);
    const auto sums = k.within.find(todo[i].first);
    if (inner.empty() || sums == k.within.end()) continue;
    for (const ReductionNest& n : k.nests)
      if (contains(sums->second, n.node) && std::ranges::any_of(n.axes, [&](int a) { return contains(inner, a); }))
        add_once(todo, {n.node, n.at});
  }
  return open;
}

/// How many tasks need one element because its index uses only part of an outer range, as a window does for its taps.
/// A few of them are unrolled copies, which share it.
double Partitioner::tasks_per_element(const FusionGroup& k, IndexId ix) const {
  double times = 1;
  for (int a : k.outer) {
    if (!contains(space_.axes_of(ix), a)) continue;
    int64_t seen = 1;
    for (const DimIndex& dim : space_[ix])
      for (const Digit& d : dim.digits)
        if (d.axis == a) seen *= d.size;
    const int64_t tasks = space_.bound(a) / std::max<int64_t>(1, seen);
    if (tasks > prices_.max_unrolled_copies) times *= static_cast<double>(tasks);
  }
  return times;
}

/// Iterations per element of a node with loops that is part of something larger. A kernel over a whole cat or pad runs
/// the loops of each part in all iterations.
double Partitioner::iterations_per_element(const FusionNode& s, IndexId ix) const {
  if (!s.loops() || is_opaque(space_[ix])) return 1;
  double times = 1;
  for (size_t d = 0; d < space_[ix].size(); ++d) {
    double seen = 1;
    for (const Digit& digit : space_[ix][d].digits) seen *= static_cast<double>(digit.size);
    times *= std::max(1.0, seen / static_cast<double>(std::max<int64_t>(1, s.uop->shape[d].bound())));
  }
  return times;
}

/// How often the kernel computes each element of the node on average, at this index.
double Partitioner::evaluations(const FusionGroup& k, int number, IndexId ix) const {
  const FusionNode& s = node(number);
  const std::vector<int>& axes = space_.axes_of(ix);
  const std::vector<int> loops = loops_around(k, number, ix);
  const bool inner = !loops.empty();
  double times = 1;
  for (int a : loops)
    if (!contains(axes, a)) times *= static_cast<double>(space_.bound(a));
  size_t place = 0;
  for (size_t b = 0; b < k.outer.size(); ++b)
    if (contains(axes, k.outer[b])) place = b + 1;
  for (size_t b = 0; b < k.outer.size(); ++b) {
    const int axis = k.outer[b];
    if (contains(axes, axis)) continue;
    if (!inner && !s.loops() && b >= place) continue;  // hoisted out of this loop
    times *= static_cast<double>(space_.bound(axis));
  }
  if (is_opaque(space_[ix]))
    times *= static_cast<double>(task_count(axes)) / static_cast<double>(std::max<int64_t>(1, s.numel));
  else if (s.loops())
    times *= tasks_per_element(k, ix);
  return times;
}

/// Time to reread operands of the kernel's products once these axes are inner loops of a task and `outer` is left. This
/// concerns operands that are contiguous along the reduced axis. If they are larger along it than a cached row, lanes
/// go along the sum, and each result of a task reads a row of its own. If not, but the core's private cache does not
/// hold all rows, each tile of results reads them once more: panels need a loop over blocks of the sum outside of the
/// tasks.
double Partitioner::reread_cost(const FusionGroup& k, const std::vector<int>& outer, const std::vector<int>& lost) {
  double ns = 0;
  for (const Member& member : k.members) {
    const FusionNode& s = node(member.node);
    if (!s.contraction) continue;
    std::vector<int> loops = member.reduced;
    const IndexId at = space_.normal(input_index(s, member.at[0], loops));
    const std::vector<int> reduced = space_.expand(member.reduced);
    for (const FusionEdge& source : s.sources) {
      if (source.node < 0) continue;
      const IndexId from = space_.down(source.head, at);
      const FusionIndex& index = space_[from];
      if (index.empty() || index.back().digits.empty() || !contains(reduced, index.back().digits.back().axis)) continue;
      const std::vector<int>& axes = space_.axes_of(from);
      int64_t row = static_cast<int64_t>(size_of(node(source.node).uop->dtype)), bytes = row;
      double times = 1, apart = 1;  // how often, and for how many separate operands
      bool is_matrix = false;
      for (int a : axes) {
        if (contains(reduced, a)) row *= space_.bound(a);
        if (!contains(outer, a)) bytes *= space_.bound(a);
        is_matrix |= contains(lost, a);
      }
      for (int a : outer) (contains(axes, a) ? apart : times) *= static_cast<double>(space_.bound(a));
      if (row <= prices_.row_bytes)
        times = is_matrix && bytes > prices_.row_bytes_far ? times / static_cast<double>(prices_.tile_rows) : 1;
      if (times > 1) ns += apart * (times - 1) * prices_.transfer(bytes);
    }
  }
  return ns;
}

/// The price of fewer tasks: idle units, and products that lose an axis of their register tiles and with it the reuse
/// between the rows of a tile. Products whose results are then no matrix row in a task have no tiles at all.
double Partitioner::serialization_cost(const FusionGroup& k, const std::vector<int>& lost, double extra) {
  if (lost.empty()) return 0;
  if (k.blocks.axis >= 0) {
    const std::vector<int> needed = required_outer_axes(k);
    if (std::ranges::any_of(lost, [&](int a) { return contains(needed, a); })) return kNever;
  }
  std::vector<int> rest = ir::filtered(k.outer, [&](int a) { return !contains(lost, a); });
  double ns = idle(k.time + extra, task_count(k.outer, k.blocks), task_count(rest, k.blocks));
  int64_t tile = 1;
  for (int a : lost)
    if (contains(k.contraction_outer, a)) tile *= space_.bound(a);
  if (tile == 1) return ns;
  if (has_mma(k)) return kNever;
  if (prices_.tile_rows * 4 * tile > prices_.row_bytes_far) return kNever;
  ns += reread_cost(k, rest, lost);
  for (const Member& m : k.members)
    if (node(m.node).contraction && !is_matrix_row(k, node(m.node), m.at[0], lost))
      return ns + k.contraction_time * prices_.plain_row;
  return ns + k.contraction_time * (tile > prices_.tile ? prices_.wide_row : prices_.narrow_row);
}

/// Bytes of the node in loops inside one task, for as many rows as are computed together.
int64_t Partitioner::row_bytes(const FusionGroup& k, const FusionNode& s, IndexId ix,
                               const std::vector<int>& lost) const {
  int64_t bytes = static_cast<int64_t>(size_of(s.uop->dtype));
  for (int a : space_.axes_of(ix))
    if (!contains(k.outer, a) || contains(lost, a)) bytes *= space_.bound(a);
  return k.contractions || s.contraction ? bytes * prices_.tile_rows : bytes;
}

/// Whether the loops inside one task in which a product is needed form a row of a matrix: one axis, along which no
/// window slides. Only then are there panels and register tiles.
bool Partitioner::is_matrix_row(const FusionGroup& k, const FusionNode& s, IndexId ix,
                                const std::vector<int>& lost) const {
  std::vector<int> inner;
  for (size_t d = 0; d < space_[ix].size(); ++d)
    for (const Digit& digit : space_[ix][d].digits) {
      if (contains(k.outer, digit.axis) && !contains(lost, digit.axis)) continue;
      if (contains(s.sliding, static_cast<int>(d))) return false;
      add_once(inner, digit.axis);
    }
  return inner.size() <= 1;
}

bool Partitioner::has_mma(const FusionGroup& k) const {
  return std::ranges::any_of(k.nests, [&](const ReductionNest& n) { return node(n.node).mma; });
}

/// Whether the kernel computes a pair of products.
bool Partitioner::has_pair(const FusionGroup& k) const {
  return std::ranges::any_of(k.nests, [&](const ReductionNest& n) { return node(n.node).pair >= 0; });
}

/// The share of a product's time lost when it is computed in loops inside one task.
double Partitioner::tile_loss(const FusionGroup& k, const FusionNode& s, IndexId ix,
                              const std::vector<int>& lost) const {
  if (s.mma) return kNever;
  if (!is_matrix_row(k, s, ix, lost)) return prices_.plain_row;
  return is_opaque(space_[ix]) || row_bytes(k, s, ix, lost) > prices_.row_bytes_far ? prices_.wide_row
                                                                                    : prices_.narrow_row;
}

/// Whether a row of the node lies across memory: the elements beside each of its own belong to other tasks, and a
/// core's cache does not hold all of them until these come.
bool Partitioner::lies_across_memory(const FusionGroup& k, const FusionNode& s, IndexId ix,
                                     const std::vector<int>& lost) const {
  int64_t span = 0;  // bytes from the row's outermost axis on
  bool others = false;
  for (const DimIndex& dim : space_[ix])
    for (const Digit& digit : dim.digits) {
      const bool inner = !contains(k.outer, digit.axis) || contains(lost, digit.axis);
      if (inner && span == 0) span = static_cast<int64_t>(size_of(s.uop->dtype));
      if (span > 0) span *= space_.bound(digit.axis), others |= !inner;
    }
  return others && span > prices_.row_bytes_far;
}

/// Whether vectors of the node lie along two axes: along its rows where a reduction with lanes uses it, and across them
/// where it is stored. The reduction would evaluate it once more, element by element.
bool Partitioner::needs_both_lanes(const FusionGroup& k, int number, IndexId ix) const {
  const FusionIndex& index = space_[ix];
  if (index.empty() || index.back().digits.empty() || !contains(k.outer, index.back().digits.back().axis)) return false;
  const std::vector<int>& axes = space_.axes_of(ix);
  const auto within = k.within.find(number);
  return within != k.within.end() && std::ranges::any_of(axes, [&](int a) { return !contains(k.outer, a); }) &&
         std::ranges::any_of(within->second, [&](int r) {
           return node(r).kind == FusionNodeKind::Reduce && node(r).uop->reduction().tree.lanes > 1;
         });
}

/// The price of materializing one row of the node while sibling loops read it.
double Partitioner::materialize_cost(const FusionGroup& k, const FusionNode& s, IndexId ix,
                                     const std::vector<int>& lost) const {
  const int64_t bytes = row_bytes(k, s, ix, lost);
  if (k.contractions && lies_across_memory(k, s, ix, lost))
    return prices_.across_row * static_cast<double>(s.bytes) / prices_.memory;
  if (bytes <= prices_.row_bytes) return 0;
  const auto all = static_cast<double>(s.bytes);
  return bytes <= prices_.row_bytes_far ? 2 * all / prices_.cached : 3 * all / prices_.memory;
}

/// The price of a sum's own time in a kernel with fewer tasks than it has elements: a product of a few rows with a
/// large matrix, below what needs a whole row of it. Blocks of the kernel's sums may make more tasks of it.
double Partitioner::lone_task_cost(const FusionGroup& k, const FusionNode& s) {
  if (s.kind != FusionNodeKind::Reduce || k.nests.empty() || k.blocks.axis >= 0) return 0;
  const double time = std::max(s.own, reads_of(s, nullptr));
  double ns = time < prices_.small_kernel ? 0 : idle(time, s.numel, task_count(k.outer));
  for (const ReductionNest& n : k.nests)
    for (size_t count = 1; count <= n.axes.size() && ns > 0; ++count)
      if (FusionGroup cut; cut_into_blocks(k, n, count, cut))
        ns = std::min(ns, std::max(0.0, idle(time, s.numel, task_count(cut.outer, cut.blocks))));
  return ns;
}

InlineCost Partitioner::inline_cost(int kernel, int s, const std::vector<IndexId>& ix) {
  FusionGroup& k = at(kernel);
  const FusionNode& st = node(s);
  steps_ += static_cast<int64_t>(ix.size());
  refresh(k);
  if (cut_trackers_[kernel].is_full && is_pending(k, s)) return {kNever, "what a full kernel still needs"};
  if (k.evaluations + static_cast<int>(ix.size()) > prices_.max_nodes) return {kNever, "kernel has too many nodes"};
  if (!fits(k, s, false)) return {kNever, "kernel has too many buffers"};
  if (st.scatter) return {kNever, "a scatter owns its loops"};
  if (st.kind == FusionNodeKind::Scan) return inline_cost_of_scan(k, s, ix);
  const bool paired = joins_pair(k, st);
  if (!paired && ((st.mma && k.contractions) || (st.loops() && (has_mma(k) || has_pair(k) || st.pair >= 0))))
    return {kNever, "tensor cores compute the only sum of a kernel"};
  if (st.ends_pair && !paired) return {kNever, "a pair of products has a kernel of its own"};
  if (st.loops() && k.nests.size() >= static_cast<size_t>(prices_.max_loops))
    return {kNever, "kernel has too many loops"};
  const std::vector<int>& wants = epilogue_wants_[kernel];
  if (std::ranges::binary_search(wants, s)) {
    if (other_accumulator(k, s, ix, true)) return {0, "in the epilogue, beside another accumulator"};
    InlineCost across = split_cost(k, s, ix);
    const double serial =
        st.own * static_cast<double>(ix.size()) * (st.loops() ? static_cast<double>(prices_.parallel) : 1);
    return across.ns <= serial ? across : InlineCost{serial, "in the epilogue"};
  }
  if (ix.size() == 1 && other_accumulator(k, s, ix, false)) return {0, "beside another accumulator"};
  if (paired && !k.nests.empty() && (st.mma || has_mma(k))) return inline_cost_in_pair(k, s, ix);
  InlineCost each = inline_cost_per_use(k, s, ix), row = inline_cost_per_row(k, s, ix);
  const double lone = lone_task_cost(k, st);
  each.ns += lone;
  row.ns += lone;
  // On a tie, prefer unifying indices, which is free. Giving up outer ranges is not.
  if (row.siblings.empty() ? row.ns < each.ns : row.ns <= each.ns) each = std::move(row);
  if (ix.size() != 1 || st.contraction) return each;
  InlineCost interchanged = interchange_cost(k, st, ix[0]);
  return interchanged.ns < each.ns ? interchanged : each;
}

/// Evaluated in the loop of the stores that need it: the scanned axis becomes a loop inside a task.
InlineCost Partitioner::inline_cost_of_scan(const FusionGroup& k, int s, const std::vector<IndexId>& ix) {
  const FusionNode& st = node(s);
  const IndexId at = space_.normal(ix[0]);
  if (ix.size() != 1 || !aligned(st, at)) return {kNever, "a scan at several indices"};
  const auto within = k.within.find(s);
  if (k.blocks.axis >= 0 || (within != k.within.end() && !within->second.empty()))
    return {kNever, "a scan in the loops of a reduction"};
  for (const ReductionNest& n : k.nests)
    if (node(n.node).kind != FusionNodeKind::Scan || node(n.node).uop->src != st.uop->src)
      return {kNever, "a scan beside other loops"};
  InlineCost out{st.own, "a scan of blocks, where they are joined"};
  for (const Digit& d : space_[at][st.uop->reduction().axes[0]].digits) {
    for (const KernelStore& o : k.outputs)
      if (!contains(space_.axes_of(space_.normal(o.at)), d.axis))
        return {kNever, "a scan outside the loops of a store"};
    if (contains(k.outer, d.axis)) out.lost.push_back(d.axis);
  }
  return out;
}

/// Whether a reduction at this index is constant over runs shorter than a vector of a contiguous inner loop. The loop
/// around it would then step by less than a vector.
bool Partitioner::cuts_vectors(const FusionGroup& k, IndexId ix) {
  std::vector<int> rows;  // loops over the innermost dim of the stores
  for (const KernelStore& o : k.outputs)
    if (const FusionIndex& at = space_[space_.normal(o.at)]; !at.empty() && !at.back().digits.empty())
      add_once(rows, at.back().digits.back().axis);
  const FusionIndex& index = space_[space_.normal(ix)];
  return std::ranges::any_of(index, [&](const DimIndex& dim) {
    return std::ranges::any_of(dim.digits, [&](const Digit& d) {
      return d.div > 1 && d.div < prices_.lanes && contains(rows, d.axis) && !contains(k.outer, d.axis);
    });
  });
}

/// Whether a loop runs over rows of the node that are shorter than a vector, one after the other: over the phases of a
/// strided window, say.
bool Partitioner::runs_across_short_rows(const FusionNode& s, IndexId ix) const {
  const FusionIndex& index = space_[ix];
  if (index.empty() || !index.back().opaque) return false;
  const int64_t row = s.uop->shape[index.size() - 1].bound();
  return row > 1 && row < prices_.lanes;
}

/// Evaluated separately for every index; the kernel's loops do not change.
InlineCost Partitioner::inline_cost_per_use(const FusionGroup& k, int number, const std::vector<IndexId>& ix) {
  const FusionNode& s = node(number);
  if (ix.size() > prices_.max_instances) return {kNever, "needed at too many indices"};
  double times = 0, iterations = 0;
  for (IndexId i : ix) {
    times += evaluations(k, number, i);
    iterations += evaluations(k, number, i) * iterations_per_element(s, i);
  }
  double ns = s.own * iterations;
  if (!s.loops()) {
    InlineCost out{ns, ix.size() == 1 ? "elementwise" : "elementwise, evaluated at several indices"};
    if (s.kind == FusionNodeKind::Elementwise) out.repeats = std::max(0.0, iterations - static_cast<double>(ix.size()));
    return out;
  }
  bool inner = false;
  for (IndexId i : ix)
    for (int a : space_.axes_of(i)) inner |= !contains(k.outer, a);
  if (s.contraction && (k.contractions || times > 1)) ns += prices_.shared_contraction * (s.own + k.contraction_time);
  if (s.contraction && inner)
    for (IndexId i : ix)
      ns += tile_loss(k, s, i, {}) * s.own * iterations_per_element(s, i) / static_cast<double>(ix.size());
  const auto others = static_cast<double>(prices_.lanes - 1);  // that wait, where a vector goes element by element
  if (inner && std::ranges::any_of(ix, [&](IndexId i) { return cuts_vectors(k, i); })) ns += others * (k.time + s.own);
  if (inner && std::ranges::any_of(ix, [&](IndexId i) { return runs_across_short_rows(s, i); }))
    ns += prices_.short_rows * others * s.own * iterations;
  return {ns, ix.size() > 1 ? "reduction, at several indices"
              : times > 1   ? "reduction, recomputed"
              : inner       ? "reduction inside a loop"
                            : "reduction with epilogue"};
}

/// One index in place of several that differ only in loops over one row: fills the siblings and lost axes of `form`.
/// -1: they differ otherwise, or are known at run time only.
IndexId Partitioner::unify_indices(FusionGroup& k, std::vector<IndexId> ix, InlineCost& form) {
  for (size_t i = 1; i < ix.size(); ++i)
    for (size_t d = 0; d < space_[ix[0]].size(); ++d) space_.refine(ix[0], ix[i], d);
  for (IndexId& i : ix) i = space_.normal(i);
  refresh(k);
  for (size_t i = 1; i < ix.size(); ++i)
    if (!are_siblings(k, ix[0], ix[i], form.siblings, form.lost)) return -1;
  return is_opaque(space_[ix[0]]) ? -1 : ix[0];
}

/// Whether the node may be part of the kernel as one of a pair of products: the kernel has no reduction that is not.
bool Partitioner::joins_pair(const FusionGroup& k, const FusionNode& s) const {
  return s.pair >= 0 &&
         std::ranges::all_of(k.nests, [&](const ReductionNest& n) { return node(n.node).pair == s.pair; });
}

/// Evaluated once per block, whose values threads keep. Outer ranges that the node lacks become loops inside a task.
InlineCost Partitioner::inline_cost_in_pair(FusionGroup& k, int number, const std::vector<IndexId>& given) {
  InlineCost out;
  const IndexId first = unify_indices(k, given, out);
  if (first < 0) return {kNever, "a pair of products at several indices"};
  for (int a : k.outer)
    if (!contains(space_.axes_of(first), a)) add_once(out.lost, a);
  if (!loops_stay_apart(k, out.siblings, out.lost)) return {kNever, "loops of a pair of products in each other"};
  out.ns = node(number).own;
  out.materialized = true;
  out.how = "between products";
  return out;
}

/// Evaluated once, in loops inside the outer ranges that all its users share. Indices that differ only in loops over
/// one row are unified, and outer ranges that the value lacks are given up.
InlineCost Partitioner::inline_cost_per_row(FusionGroup& k, int number, const std::vector<IndexId>& given) {
  const FusionNode& s = node(number);
  InlineCost out;
  const IndexId first = unify_indices(k, given, out);
  if (first < 0) return {};
  const std::vector<int>& axes = space_.axes_of(first);
  std::vector<int> repeated =
      ir::filtered(k.outer, [&](int a) { return !contains(axes, a) && !contains(out.lost, a); });
  const bool inner = !out.lost.empty() || std::ranges::any_of(axes, [&](int a) { return !contains(k.outer, a); });
  // A value of outer ranges alone without a loop is hoisted out of the innermost ranges that it lacks, for free.
  if (s.loops() || inner) out.lost.insert(out.lost.end(), repeated.begin(), repeated.end());
  if (out.lost.empty() && given.size() == 1) return {};
  if (!loops_stay_apart(k, out.siblings, out.lost)) return {};
  const double own = s.own * iterations_per_element(s, first), loss = serialization_cost(k, out.lost, own);
  if (loss == kNever) return {};
  // Several loops read it, or each iteration of a former outer range: materialize it, or recompute it in each.
  auto iterations = static_cast<double>(given.size());
  for (int a : loops_around(k, number, first))
    if (!contains(axes, a)) iterations *= static_cast<double>(space_.bound(a));
  if (inner)
    for (int a : repeated) iterations *= static_cast<double>(space_.bound(a));
  const double again = (iterations - 1) * own, keep = materialize_cost(k, s, first, out.lost);
  out.materialized = keep < again;
  out.ns = own + std::min(again, keep) + loss;
  if (s.contraction) {
    if (k.contractions || !repeated.empty()) out.ns += prices_.shared_contraction * (own + k.contraction_time);
    if (inner) out.ns += tile_loss(k, s, first, out.lost) * own;
  }
  out.how = given.size() > 1 ? "once per row, read by sibling loops"
            : s.loops()      ? "reduction of a row"
                             : "once per row";
  return out;
}

}  // namespace sinter::schedule

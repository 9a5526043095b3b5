// What it costs to evaluate a stage inside a kernel, and whether it may be.
#include <algorithm>
#include <limits>

#include "schedule/partitioner.h"

namespace sinter::schedule {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool contains(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }

}  // namespace

/// Room for the stage's sources: everything wanted may yet become a buffer that is read.
bool Partitioner::fits(const Kernel& k, int s, bool stores) const {
  size_t buffers = k.reads.size() + k.wanted.size() - 1 + k.outputs.size() + (stores ? 1 : 0);
  for (const Source& src : stage(s).sources)
    if (src.stage >= 0 && !k.wanted.contains(src.stage) && !k.reads.contains(src.stage)) ++buffers;
  return buffers <= static_cast<size_t>(prices_.max_buffers);
}

/// Does the index have each element of the stage once, over all of the kernel's outer ranges and nothing else?
bool Partitioner::aligned(const Kernel& k, const Stage& s, IndexId ix) {
  const Index& index = space_[ix];
  std::vector<int> axes;
  for (size_t i = 0; i < index.size(); ++i)
    if (!space_.covers(index[i], s.node->shape[i].bound(), axes)) return false;
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) return false;
  std::vector<int> outer = space_.expand(k.outer);
  std::sort(outer.begin(), outer.end());
  return axes == outer;
}

/// Time to read the stage's sources, as far as the kernel does not read them anyway.
double Partitioner::reads_of(const Stage& s, const Kernel* k) const {
  double ns = 0;
  for (size_t i = 0; i < s.sources.size(); ++i) {
    const int from = s.sources[i].stage;
    if (from < 0 || (k && (k->wanted.contains(from) || k->reads.contains(from)))) continue;
    const bool again = std::any_of(s.sources.begin(), s.sources.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const Source& other) { return other.stage == from; });
    if (!again) ns += prices_.transfer(stage(from).read_bytes);
  }
  return ns;
}

Absorb Partitioner::absorb(int kernel, int s, const std::vector<IndexId>& ix) {
  Kernel& k = at(kernel);
  const Stage& st = stage(s);
  k.outer = space_.expand(k.outer);
  if (k.evaluations + static_cast<int>(ix.size()) > prices_.max_stages) return {kNever, "kernel has too many stages"};
  if (ix.size() > prices_.max_instances) return {kNever, "needed at too many indices"};
  if (!fits(k, s, false)) return {kNever, "kernel has too many buffers"};
  if (!st.loops()) {
    double ns = 0;
    for (IndexId i : ix) {
      const std::vector<int>& axes = space_.axes_of(i);
      const Index& index = space_[i];
      const bool opaque = std::any_of(index.begin(), index.end(), [](const DimIndex& d) { return d.opaque; });
      const bool inner = std::any_of(axes.begin(), axes.end(), [&](int a) { return !contains(k.outer, a); });
      double times = 1;
      size_t place = 0;
      for (size_t b = 0; b < k.outer.size(); ++b)
        if (contains(axes, k.outer[b])) place = b + 1;
      for (size_t b = 0; b < k.outer.size(); ++b) {
        const int axis = k.outer[b];
        if (contains(axes, axis)) continue;
        if (!inner && b >= place) continue;  // evaluated outside of this loop
        const int64_t block = k.contractions && contains(k.contraction_outer, axis) ? prices_.prologue_block : 1;
        times *= static_cast<double>((space_.bound(axis) + block - 1) / block);
      }
      if (opaque) times *= static_cast<double>(points(axes)) / static_cast<double>(std::max<int64_t>(1, st.numel));
      ns += st.own * times;
    }
    return {ns, ix.size() == 1 ? "elementwise" : "elementwise, evaluated at several indices"};
  }
  if (st.kind == StageKind::ScatterAdd) return {kNever, "a scatter owns its loops"};
  if (ix.size() > 1) return {kNever, "a reduction needed at several indices"};
  if (k.loops >= prices_.max_loops) return {kNever, "kernel has too many loops"};
  for (const DimIndex& d : space_[ix[0]])
    if (d.opaque) return {kNever, "a reduction at an opaque index"};
  const std::vector<int>& axes = space_.axes_of(ix[0]);
  for (int a : axes)
    if (!contains(k.outer, a)) return {kNever, "a reduction inside a loop of its user"};
  double times = 1;
  for (int b : k.outer)
    if (!contains(axes, b)) times *= static_cast<double>(space_.bound(b));
  double ns = st.own * times;
  if (st.contraction && (k.contractions || times > 1)) ns += prices_.shared_contraction * (st.own + k.contraction_time);
  return {ns, times > 1 ? "reduction, recomputed" : "reduction with epilogue"};
}

}  // namespace sinter::schedule

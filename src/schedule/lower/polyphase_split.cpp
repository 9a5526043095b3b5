// Finds the divisors, then replaces ranges. Whoever reads the kernel simplifies its indices (codegen.h).
#include "schedule/lower/kernel_passes.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <vector>

#include "codegen/kernel/access.h"
#include "codegen/kernel/offset.h"
#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "ir/rebuild.h"
#include "ir/walk.h"
#include "rewrite/linear.h"
#include "rewrite/movement_index.h"

namespace sinter::schedule {
namespace {

constexpr int64_t kLongest = 8;  ///< stride: each phase is a loop of its own
constexpr int64_t kPanel = 16;   ///< columns that fill whole vectors on every machine, or a multiple of it

/// Which outer ranges are divided inside sums, and by what.
class RangeDivisions {
 public:
  explicit RangeDivisions(UOp sink) {
    for (UOp n : ir::topological(sink))
      if (n->op == Op::Reduce) todo_.insert(todo_.end(), n->src.begin(), n->src.end());
    while (!todo_.empty()) {
      UOp n = todo_.back();
      todo_.pop_back();
      if (seen_.insert(n.get()).second) visit(n);
    }
  }
  /// By range id: the single divisor of a range whose remainder is used too. That is the stride of a window or, if one
  /// load uses both, the width of a panel.
  std::map<int, int64_t> widths() const {
    std::map<int, int64_t> out;
    for (const auto& [id, found] : ranges_)
      if (found.quotient && found.remainder && found.by > 0 &&
          (found.panels ? found.by % kPanel == 0 : found.by <= kLongest))
        out[id] = found.by;
    return out;
  }

 private:
  struct RangeDivision {
    int64_t by = 0;  ///< -1: no single divisor
    bool quotient = false, remainder = false;
    bool moved = false;   ///< the dividend has further terms that are not multiples of the divisor
    bool panels = false;  ///< one load uses both
    void add(const RangeDivision& other) {
      by = by == 0 || by == other.by ? other.by : -1;
      quotient |= other.quotient;
      remainder |= other.remainder;
      moved |= other.moved;
      panels |= other.panels;
    }
  };
  using DivisionMap = std::map<int, RangeDivision>;

  static void note(UOp n, DivisionMap& to) {
    int64_t k = 0;
    if (n->dtype != DType::Index || (n->op != Op::IDiv && n->op != Op::Mod) || !ir::constant_of(n->src[1], k) || k < 2)
      return;
    const ir::LinearExpr place = ir::linear_of(n->src[0]);
    const auto apart = std::ranges::count_if(place.terms, [k](const ir::LinearTerm& t) { return t.factor % k != 0; });
    for (const ir::LinearTerm& t : place.terms)
      if (t.atom->op == Op::Range && codegen::is_outer(t.atom) && t.factor % k)
        to[codegen::range_id(t.atom)].add(
            {t.factor == 1 ? k : -1, n->op == Op::IDiv, n->op == Op::Mod, apart > 1 || place.constant % k != 0});
  }
  /// A load counts by its offset, not by its indices: over contiguous axes no division is left.
  void visit(UOp n) {
    if (n->op != Op::Load) {
      note(n, ranges_);
      todo_.insert(todo_.end(), n->src.begin(), n->src.end());
      return;
    }
    DivisionMap here;
    for (const ir::LinearTerm& t : ir::merge_divmod(codegen::offset_of(n)).terms)
      for (UOp x : ir::topological(t.atom)) note(x, here);
    for (auto& [id, found] : here) {
      found.panels = found.quotient && found.remainder;
      if (found.panels && found.moved) found.by = -1;  // the columns of a panel would have no fixed stride
      ranges_[id].add(found);
    }
    for (UOp s : {codegen::predicate_of(n), codegen::other_of(n)})
      if (s) todo_.push_back(s);
  }

  std::vector<UOp> todo_;
  std::unordered_set<ir::Node*> seen_;
  DivisionMap ranges_;
};

}  // namespace

void split_polyphase(codegen::Kernel& kernel) {
  if (kernel.epilogue_sink) return;  // epilogue ranges are numbered after those of the sink
  std::map<int, int64_t> widths = RangeDivisions(kernel.sink).widths();
  std::erase_if(widths, [&](const auto& w) {
    const Dim& size = kernel.outer[w.first];
    return size.symbolic() || size.value() % w.second || size.value() == w.second;
  });
  if (widths.empty()) return;

  ir::Graph& g = *kernel.graph;
  std::vector<Dim> outer;
  std::vector<UOp> places;  // replacements of the old ranges
  const auto open = [&](const Dim& size) {
    outer.push_back(size);
    return ir::range(ir::extent_of(g, size), static_cast<int>(outer.size()) - 1, ir::AxisKind::Outer);
  };
  for (size_t id = 0; id < kernel.outer.size(); ++id) {
    const auto it = widths.find(static_cast<int>(id));
    if (it == widths.end()) {
      places.push_back(open(kernel.outer[id]));
      continue;
    }
    const int64_t k = it->second;
    UOp whole = open(kernel.outer[id].value() / k), phase = open(k);
    places.push_back(whole * ir::constant(g, DType::Index, k) + phase);
  }
  const int added = static_cast<int>(outer.size() - kernel.outer.size());
  kernel.sink = ir::rebuild(g, kernel.sink, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Range) return {};
    const int id = codegen::range_id(n);
    return codegen::is_outer(n) ? places[id] : ir::range(src[0], id + added, ir::AxisKind::Inner);
  });
  kernel.outer = std::move(outer);
}

}  // namespace sinter::schedule

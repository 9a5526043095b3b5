// Flattening and blocking of ranges as graph rewrites.
#include "codegen/normalize/normalize.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "ir/ceil_div.h"
#include "ir/combine.h"
#include "ir/contains.h"
#include "ir/mma_step.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

using Substitution = std::unordered_map<UOp, UOp>;

bool is_const(UOp bound) { return bound->op == Op::Const; }
bool divides(int64_t n, UOp bound) { return is_const(bound) && bound->scalar().as_int() % n == 0; }
bool fits_loop_nest(const std::vector<UOp>& ranges, ir::ReductionTree tree) {
  return tree.block == 0 && (tree.lanes == 1 || ranges.size() == 1 || divides(tree.lanes, ranges.back()->src[0]));
}

/// Adjacent elements of a REDUCE's last range that belong together.
int64_t together(UOp reduce) {
  const ir::ReductionTree& tree = reduce->reduction().tree;
  return tree.mma ? static_cast<int64_t>(ir::mma_step_length(reduce->src[0]->dtype)) : tree.lanes;
}

class ReductionSplitter {
 public:
  ReductionSplitter(ir::Graph& g, UOp sink) : g_(g) {
    for (UOp n : ir::topological(sink))
      if (n->op == Op::Range) next_id_ = std::max(next_id_, range_id(n) + 1);
  }

  UOp rewrite(UOp sink) {
    while (const std::optional<RangeBlocking> cut = shared_range(sink)) sink = apply(*cut, sink);
    Substitution done;
    for (UOp n : ir::topological(sink)) {
      UOp made = rebuild_node(n, done);
      done[n] = made->op == Op::Reduce && !fits_loop_nest(ranges_of(made), made->reduction().tree) ? split(made) : made;
    }
    return paths_.empty() ? done.at(sink) : renumber_ranges(done.at(sink));
  }

 private:
  UOp number(int64_t v) { return ir::constant(g_, DType::Index, v); }
  /// A new range that is part number `part` of the replacement of `old`.
  UOp new_range(UOp bound, UOp old, int part) {
    UOp made = ir::range(bound, next_id_++, AxisKind::Inner);
    RangePath path = path_of(old);
    path.push_back(part);
    paths_[made] = std::move(path);
    return made;
  }
  /// Origin of a range: the id of a range of the kernel, then the part numbers down to this range.
  using RangePath = std::vector<int>;
  RangePath path_of(UOp range) const {
    auto it = paths_.find(range);
    return it == paths_.end() ? RangePath{range_id(range)} : it->second;
  }

  /// Renumbers inner ranges so that ids ascend from outer to inner loops: new ranges are ordered by their origin.
  UOp renumber_ranges(UOp sink) {
    std::vector<UOp> inner;
    int first = std::numeric_limits<int>::max();
    const std::vector<UOp> nodes = ir::topological(sink);
    for (UOp n : nodes)
      if (n->op == Op::Range && range_kind(n) == AxisKind::Inner) {
        inner.push_back(n);
        first = std::min(first, path_of(n)[0]);
      }
    std::ranges::sort(
        inner, [&](UOp a, UOp b) { return std::pair(path_of(a), range_id(a)) < std::pair(path_of(b), range_id(b)); });
    std::unordered_map<UOp, int> ids;
    for (size_t i = 0; i < inner.size(); ++i) ids[inner[i]] = first + static_cast<int>(i);
    Substitution done;
    for (UOp n : nodes) {
      UOp made = rebuild_node(n, done);
      auto it = ids.find(n);
      done[n] = it == ids.end() ? made : ir::range(made->src[0], it->second, AxisKind::Inner);
    }
    return done.at(sink);
  }

  UOp product(UOp a, UOp b) {
    if (is_const(a) && is_const(b)) return number(a->scalar().as_int() * b->scalar().as_int());
    return is_const(a) && a->scalar().as_int() == 1 ? b : a * b;
  }
  UOp rebuild_node(UOp n, const Substitution& map) {
    std::vector<UOp> src = ir::mapped(n->src, [&](UOp s) { return map.at(s); });
    return src == n->src ? n : ir::with_sources(g_, n, src);
  }

  /// `root` with the ranges of `map` replaced where they are free.
  UOp substitute(UOp root, const Substitution& map) {
    ranges_.free(root);  // fills the cache: a graph allows one walk at a time, so free() must not start another below
    RangeSet keys;
    for (const auto& [range, value] : map) keys.set(ranges_.number(range));
    auto concerned = [&](UOp n) { return (ranges_.free(n) & keys).any(); };
    auto open = [&](UOp n) { return concerned(n) && !(n->op == Op::Reduce && binds(n, map)); };
    Substitution done;
    for (UOp n : ir::topological(std::span<const UOp>(&root, 1), open)) {
      if (auto it = map.find(n); it != map.end())
        done[n] = it->second;
      else if (!concerned(n))
        done[n] = n;
      else if (open(n))
        done[n] = rebuild_node(n, done);
      else
        done[n] = substitute_around(n, map);
    }
    return done.at(root);
  }
  static bool binds(UOp reduce, const Substitution& map) {
    std::vector<UOp> own = ranges_of(reduce);
    return std::ranges::any_of(own, [&](UOp r) { return map.contains(r); });
  }
  /// Substitutes in a REDUCE that binds some of the replaced ranges: only the others are free in it.
  UOp substitute_around(UOp reduce, const Substitution& map) {
    Substitution rest = map;
    for (UOp r : ranges_of(reduce)) rest.erase(r);
    std::vector<UOp> src = ir::mapped(reduce->src, [&](UOp s) { return substitute(s, rest); });
    return ir::with_sources(g_, reduce, src);
  }
  std::vector<UOp> substitute(const std::vector<UOp>& values, const Substitution& map) {
    return ir::mapped(values, [&](UOp v) { return substitute(v, map); });
  }

  /// Flattens `ranges`: one range over their product, and the expression of each in terms of it. Memoized by list.
  std::pair<UOp, Substitution> flatten(const std::vector<UOp>& ranges) {
    std::vector<uint64_t> key = ir::mapped(ranges, [](UOp r) { return r->id; });
    auto [it, first] = flat_.try_emplace(key);
    if (!first) return it->second;
    UOp total = number(1);
    for (UOp r : ranges) total = product(total, r->src[0]);
    UOp flat = new_range(total, ranges.back(), 1), stride = number(1);
    Substitution map;
    for (size_t i = ranges.size(); i-- > 0;) {
      UOp bound = ranges[i]->src[0];
      UOp at = is_const(stride) && stride->scalar().as_int() == 1 ? flat : ir::idiv(flat, stride);
      map[ranges[i]] = i ? ir::mod(at, bound) : at;
      stride = product(stride, bound);
    }
    return it->second = {flat, std::move(map)};
  }

  /// Splits a range into blocks of `size`: the ranges over blocks and within a block, and the original range in terms
  /// of them. Memoized.
  std::pair<std::vector<UOp>, Substitution> block(UOp range, int64_t size) {
    auto [it, first] = blocks_.try_emplace({range->id, size});
    if (!first) return it->second;
    UOp bound = range->src[0];
    UOp count = is_const(bound) ? number(ceil_div(bound->scalar().as_int(), size))
                                : ir::idiv(bound + number(size - 1), number(size));
    UOp outer = new_range(count, range, 2), begin = outer * number(size);
    UOp inner = new_range(divides(size, bound) ? number(size) : ir::minimum(bound - begin, number(size)), range, 3);
    return it->second = {{outer, inner}, Substitution{{range, begin + inner}}};
  }

  /// The range at which `block` splits: a block is `values` values of it times all of the ranges inside it. -1 if there
  /// is no such range.
  static int blocked_range(const std::vector<UOp>& ranges, int64_t block, int64_t& values) {
    int64_t inside = 1;
    for (size_t k = ranges.size(); k-- > 0; inside *= ranges[k]->src[0]->scalar().as_int()) {
      const bool known = is_const(ranges[k]->src[0]);
      values = inside ? block / inside : 0;
      if (values == 0 || block % inside || (!known && k > 0)) return -1;
      if (k == 0) return 0;
      const int64_t size = ranges[k]->src[0]->scalar().as_int();
      if (values < size) return size % values ? -1 : static_cast<int>(k);
    }
    return -1;
  }

  /// A range that some sum splits into blocks of `size` values.
  struct RangeBlocking {
    UOp range;
    int64_t size;
    bool operator<(const RangeBlocking& c) const { return std::pair(range->id, size) < std::pair(c.range->id, c.size); }
    bool operator==(const RangeBlocking& c) const { return range == c.range && size == c.size; }
  };
  /// The range that the blocks of a REDUCE split, if any.
  static std::optional<RangeBlocking> blocking_of(UOp reduce) {
    int64_t size = reduce->reduction().tree.block;
    const std::vector<UOp> ranges = ranges_of(reduce);
    const int at = size ? blocked_range(ranges, size, size) : -1;
    if (at < 0 || size == 1) return {};
    return RangeBlocking{ranges[at], size};
  }
  /// Whether a store computes a sum per value of a range. Such a store keeps the range unsplit, because the sum may be
  /// unrolled along it. The blocks read the stored values instead (reload_stores()).
  bool sums_along(UOp store, UOp range) {
    const std::vector<UOp> nodes = ir::topological(store);
    return std::ranges::any_of(nodes, [&](UOp n) { return has_accumulators(n) && ranges_.depends(n, range); });
  }
  /// A range that one sum runs over in equal blocks and another loop runs over differently. Splitting it for both lets
  /// them share the loops and the values computed in them.
  std::optional<RangeBlocking> shared_range(UOp sink) {
    const std::vector<UOp> nodes = ir::topological(sink);
    std::vector<RangeBlocking> cuts;
    for (UOp n : nodes)
      if (n->op == Op::Reduce)
        if (const auto cut = blocking_of(n); cut && divides(cut->size, cut->range->src[0])) cuts.push_back(*cut);
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (const RangeBlocking& cut : cuts) {
      bool shared = false, possible = true;
      for (UOp n : nodes) {
        if (n->op == Op::Store) shared |= ranges_.depends(n, cut.range) && !sums_along(n, cut.range);
        if (!has_accumulators(n)) continue;
        const std::vector<UOp> own = ranges_of(n);
        if (!ir::contains(own, cut.range)) continue;
        possible &= n->op == Op::Reduce && (!(own.back() == cut.range) || cut.size % together(n) == 0);
        const std::optional<RangeBlocking> other = blocking_of(n);
        shared |= !(other == cut);
        possible &= !other || !(other->range == cut.range) || other->size % cut.size == 0;
      }
      if (shared && possible) return cut;
    }
    return {};
  }
  /// Splits a range for all of its users.
  UOp apply(const RangeBlocking& cut, UOp sink) {
    const auto& [loops, map] = block(cut.range, cut.size);
    Substitution done;
    for (UOp n : ir::topological(sink)) {
      if (auto it = map.find(n); it != map.end()) {
        done[n] = it->second;
        continue;
      }
      UOp made = rebuild_node(n, done);
      if (n->op == Op::Reduce) {
        std::vector<UOp> ranges;
        for (UOp r : ranges_of(n))
          if (r == cut.range)
            ranges.insert(ranges.end(), loops.begin(), loops.end());
          else
            ranges.push_back(done.at(r));
        const ir::ReduceAttr& attr = n->reduction();
        std::vector<UOp> values(made->src.begin(),
                                made->src.begin() + static_cast<std::ptrdiff_t>(values_of(n).size()));
        made = ir::reduce_over(attr.combine, values, ranges, attr.tree, attr.result);
      }
      done[n] = made;
    }
    return done.at(sink);
  }

  UOp split(UOp n) {
    const ir::ReduceAttr attr = n->reduction();
    std::vector<UOp> values = values_of(n), ranges = ranges_of(n);
    int64_t size = attr.tree.block;
    int at = size ? blocked_range(ranges, size, size) : -1;
    if (at < 0) {
      if (attr.tree.mma) throw InternalError("codegen: blocks of a sum cut the steps of a tensor core");
      auto [flat, map] = flatten(ranges);
      values = substitute(values, map);
      ranges = {flat};
      if (attr.tree.block == 0) return ir::reduce_over(attr.combine, values, ranges, attr.tree, attr.result);
      size = attr.tree.block;
      at = 0;
    }
    std::vector<UOp> around(ranges.begin(), ranges.begin() + at), inside(ranges.begin() + at + 1, ranges.end());
    UOp cut = ranges[at];
    std::vector<UOp> elements = values;
    if (size == 1 && !inside.empty()) {
      around.push_back(cut);
    } else {
      auto [loops, map] = block(cut, size);
      around.push_back(loops[0]);
      inside.insert(inside.begin(), loops[1]);
      elements = substitute(values, map);
    }
    std::vector<UOp> parts;
    for (int r = 0; r < ir::accumulator_count(attr.combine); ++r) {
      parts.push_back(
          ir::reduce_over(attr.combine, elements, inside, {.lanes = attr.tree.lanes, .mma = attr.tree.mma}, r));
      if (!fits_loop_nest(inside, parts.back()->reduction().tree)) parts.back() = split(parts.back());
    }
    int64_t results = 1;
    for (UOp r : around) results *= max_trip_count(r);
    UOp joined = ir::reduce_over(ir::merge_combine(attr.combine), parts, around, ir::merge_tree(attr.tree, results),
                                 attr.result);
    return fits_loop_nest(around, joined->reduction().tree) ? joined : split(joined);
  }

  ir::Graph& g_;
  FreeRanges ranges_;
  int next_id_ = 0;
  std::unordered_map<UOp, RangePath> paths_;  ///< origins of new ranges
  std::map<std::vector<uint64_t>, std::pair<UOp, Substitution>> flat_;
  std::map<std::pair<uint64_t, int64_t>, std::pair<std::vector<UOp>, Substitution>> blocks_;
};

}  // namespace

UOp split_reductions(ir::Graph& g, UOp sink) { return ReductionSplitter(g, sink).rewrite(sink); }

void verify_reductions(UOp sink) {
  for (UOp n : ir::topological(sink))
    if (n->op == Op::Reduce && !fits_loop_nest(ranges_of(n), n->reduction().tree))
      throw InternalError("codegen: a REDUCE whose tree no loop nest follows was left");
}

}  // namespace sinter::codegen

// A pair is found from its end: an ExpSum that joins blocks, or a sum over blocks.
#include "schedule/fusion/product_pairs.h"

#include <algorithm>

#include "ir/combine.h"
#include "ir/contains.h"
#include "ir/mma_step.h"
#include "schedule/simplify/score_blocks.h"

namespace sinter::schedule {
namespace {

/// Of a product that is computed between others: threads hold its results, and those of the sums made of it.
constexpr int64_t kMaxColumns = 128;

class PairFinder {
 public:
  explicit PairFinder(std::vector<FusionNode>& nodes) : nodes_(nodes) {}

  void run() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const FusionNode& s = nodes_[i];
      const int last = static_cast<int>(i);
      if (s.mma) find_products_below(last);
      if (!joins_blocks(s)) continue;
      const int top = selected(s.sources[0]), product = selected(s.sources[1]);
      if (top < 0 || product < 0 || !node(product).mma) continue;
      const FusionNode& maximum = node(top);
      if (maximum.kind != FusionNodeKind::Reduce || maximum.uop->reduction().combine != ir::Combine::Max) continue;
      if (const std::vector<int> first = products_below(top); !first.empty()) mark_pair({first[0]}, last);
    }
    for (FusionNode& s : nodes_) {
      if (joins_blocks(s) && s.pair < 0) join_pair(s);
      if (s.kind == FusionNodeKind::Elementwise && s.pair < 0) end_pair(s);
    }
  }

 private:
  const FusionNode& node(int i) const { return nodes_[i]; }
  bool joins_blocks(const FusionNode& s) const {
    return s.kind == FusionNodeKind::Reduce && s.uop->reduction().combine == ir::Combine::ExpSum;
  }
  template <class F>
  void each_source(const FusionNode& s, F f) const {
    for (const FusionEdge& src : s.sources)
      if (src.node >= 0) f(src.node);
  }
  /// The node that a source is, or that selects with constants leave out parts of.
  int selected(const FusionEdge& source) const {
    int n = source.node;
    while (n >= 0 && node(n).uop->op == Op::Where && node(n).sources[2].node < 0) n = node(n).sources[1].node;
    return n;
  }
  /// A sum over blocks and their columns of a factor that is made of products of the same blocks.
  void find_products_below(int last) {
    const FusionNode& s = node(last);
    const ir::Ints& axes = s.uop->reduction().axes;
    const Shape& shape = s.uop->src[0]->shape;
    if (axes.size() != 2 || axes[1] != axes[0] + 1 || shape[axes[0]].symbolic()) return;
    const auto few = [&](const Dim& size, int64_t unit) {
      return !size.symbolic() && size.value() <= kMaxColumns && size.value() % unit == 0;
    };
    // Threads hold columns of results as they hold steps of 16-bit factors, and no others.
    const auto step = static_cast<int64_t>(ir::mma_step_length(s.uop->src[0]->dtype));
    if (step != 2 * ir::kMmaTileColumns) return;
    if (!few(shape[axes[1]], step)) return;
    for (const FusionEdge& edge : s.sources) {
      if (edge.head->op != Op::Expand || edge.node < 0 || !(edge.head->src[0] == node(edge.node).uop)) continue;
      const ir::Ints& repeated = edge.head->ints();  // along the results that share an element of the factor
      if (repeated.size() != 1 || !few(shape[repeated[0]], ir::kMmaTileColumns)) continue;
      const int64_t columns = axes[1] - (repeated[0] < axes[1]);
      const std::vector<int> first = products_below(edge.node);
      const auto has_columns = [&](int p) {
        return node(p).uop->shape == node(edge.node).uop->shape && is_product_with_columns(node(p).uop, columns);
      };
      if (first.empty() || first.size() > 2 || !std::ranges::all_of(first, has_columns)) continue;
      mark_pair(first, last);
      // Where the other factor is 0 as well is known for whole blocks.
      for (const FusionEdge& other : s.sources)
        if (other.node >= 0 && other.node != edge.node && node(other.node).uop->op == Op::Where)
          nodes_[other.node].own = 0;
    }
  }
  /// Whether a product sums over one axis, and one factor alone differs along an axis of the result.
  static bool is_product_with_columns(UOp product, int64_t axis) {
    const ir::Ints& summed = product->reduction().axes;
    if (summed.size() != 1) return false;
    const int64_t along = axis + (axis >= summed[0]);
    return lacks(product->src[0], along) != lacks(product->src[1], along);
  }
  /// What the results of a pair, or the maxima and sums of its rows, are made into, if that is no longer.
  void end_pair(FusionNode& s) {
    const int pair = pair_of(s);
    bool ends = pair >= 0;
    int64_t bytes = 0;
    each_source(s, [&](int i) {
      const FusionNode& source = node(i);
      ends &= source.pair == pair && (joins_blocks(source) || source.ends_pair);
      bytes = std::max(bytes, source.bytes);
    });
    if (!ends || s.bytes > bytes) return;
    s.pair = pair;
    s.ends_pair = true;
  }
  int pair_of(const FusionNode& s) const {
    int pair = -1;
    each_source(s, [&](int source) { pair = std::max(pair, node(source).pair); });
    return pair;
  }
  /// The sum of the weights in each block, and in all, and the largest maximum, beside a pair that computes the
  /// weights.
  void join_pair(FusionNode& s) {
    const int pair = pair_of(s);
    if (pair < 0) return;
    for (const FusionEdge& source : s.sources) {
      const int n = selected(source);
      if (n < 0 || node(n).kind != FusionNodeKind::Reduce || (node(n).pair < 0 && pair_of(node(n)) != pair)) return;
    }
    s.pair = pair;
    for (const FusionEdge& source : s.sources)
      for (int at = source.node, n = selected(source); at >= 0; at = at == n ? -1 : node(at).sources[1].node)
        nodes_[at].pair = pair;
  }
  /// The products on tensor cores that a value is made of by elementwise ops, each after those before it.
  std::vector<int> products_below(int value) const {
    std::vector<int> todo, products;
    const auto open = [&](int s) {
      if (!ir::contains(todo, s)) todo.push_back(s);
    };
    if (node(value).kind == FusionNodeKind::Elementwise)
      open(value);
    else
      each_source(node(value), open);
    for (size_t i = 0; i < todo.size(); ++i) {
      const FusionNode& s = node(todo[i]);
      if (s.mma) products.push_back(todo[i]);
      if (s.kind == FusionNodeKind::Elementwise) each_source(s, open);
    }
    std::ranges::sort(products);
    return products;
  }
  /// Marks all nodes between the first products and `last`, all included, and those of other pairs that begin with one
  /// of them.
  void mark_pair(const std::vector<int>& products, int last) {
    const int first = products[0];
    std::vector<bool> after(static_cast<size_t>(last - first) + 1, false), before = after;
    const auto at = [&](std::vector<bool>& list, int i) { return list[i - first]; };
    for (int product : products) at(after, product) = true;
    at(before, last) = true;
    for (int i = first + 1; i <= last; ++i)
      each_source(node(i), [&](int s) {
        if (s >= first && at(after, s)) at(after, i) = true;
      });
    for (int i = last; i > first; --i)
      if (at(before, i))
        each_source(node(i), [&](int s) {
          if (s >= first) at(before, s) = true;
        });
    for (int product : products)
      if (const int other = node(product).pair; other >= 0)
        for (FusionNode& s : nodes_)
          if (s.pair == other) s.pair = first;
    for (int i = first; i <= last; ++i)
      if (at(after, i) && at(before, i)) nodes_[i].pair = first;
  }

  std::vector<FusionNode>& nodes_;
};

}  // namespace

void find_pairs(std::vector<FusionNode>& nodes) { PairFinder(nodes).run(); }

}  // namespace sinter::schedule

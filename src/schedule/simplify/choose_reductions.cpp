// Strides are propagated from the leaves up. Stored values are row-major.
#include "schedule/simplify/choose_reductions.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_set>

#include "ir/build.h"
#include "ir/ceil_div.h"
#include "ir/contains.h"
#include "ir/splat.h"
#include "ir/walk.h"
#include "schedule/graph/rebuild_plan.h"
#include "schedule/simplify/mma_factors.h"
#include "schedule/simplify/partial_products.h"
#include "schedule/simplify/strides.h"
#include "schedule/simplify/sum_blocks.h"

namespace sinter::schedule {
namespace {

// Lanes fill 64 bytes on every CPU: the tree is part of a program's meaning.
constexpr int64_t kLaneBytes = 64;
constexpr int64_t kNear = 4;           // largest stride of elements in a vector
constexpr int64_t kFewest = 4;         // elements of a vector along results, at least
constexpr int64_t kShortRow = 8;       // shorter rows do not use a part of a vector
constexpr int64_t kThreadLanes = 256;  // GPU: at most one lane per thread of a block
constexpr int64_t kFewOutputs = 4096;  // GPU: a matrix product with fewer outputs has a block per output
constexpr int64_t kShortest = 64;      // elements, times their stride, below which a single chain is as good
constexpr int64_t kPacked = 8;    // reuse of operand elements from which operands are packed and lanes go along results
constexpr int64_t kLong = 65536;  // elements of a row that is a block by itself

/// Strides of an elementwise result: unit stride along an axis if every operand that varies along it has unit stride.
void meet(Strides& into, const Strides& with) {
  const auto some = [](int64_t distance) { return distance == 1 || distance == kMixedStride; };
  for (size_t i = 0; i < into.size(); ++i)
    if (into[i] == 0)
      into[i] = with[i];
    else if (with[i] != 0 && with[i] != into[i])
      into[i] = some(into[i]) || some(with[i]) ? kMixedStride : kNoStride;
}

Strides strides_of(UOp n, const std::vector<const Strides*>& src) {
  if (n->op == Op::Const || n->op == Op::Arg || n->op == Op::Var || n->op == Op::Arange) return Strides(n->rank(), 0);
  if (ir::is_movement(n->op)) return strides_after(n, *src[0]);
  if (n->op == Op::Tf32) return *src[0];
  if (!ir::is_alu(n->op)) return row_major(n->shape);
  Strides out = *src[0];
  for (size_t i = 1; i < src.size(); ++i) meet(out, *src[i]);
  return out;
}

/// The smallest divisor of n that is at least `least`. Requires n >= least.
int64_t divisor_from(int64_t n, int64_t least) {
  int64_t best = n;
  for (int64_t d = 1; d <= n / d; ++d)
    for (const int64_t divisor : {d, n / d})
      if (n % d == 0 && divisor >= least) best = std::min(best, divisor);
  return best;
}

/// Elements of the leading axes in one block, about `most` at most; 0 if there are too few rows, of `row` elements
/// each. A block is some values of one of those axes with all axes inside it.
int64_t block_of(const std::vector<int64_t>& leading, int64_t row, int64_t most, const Prices& prices) {
  int64_t rows = 1;
  for (int64_t n : leading) rows *= n;
  const int64_t wanted = std::min(rows_in_block(rows / row, prices) * row, most);
  if (wanted == 0) return 0;
  int64_t inside = 1;
  for (size_t k = leading.size(); k-- > 0; inside *= leading[k]) {
    int64_t part = ceil_div(wanted, inside);
    if (k > 0) {
      if (part >= leading[k]) continue;
      part = divisor_from(leading[k], part);  // blocks end where the axis does
      if (part == leading[k]) continue;
    }
    return part * inside < rows ? part * inside : 0;
  }
  return 0;
}

int64_t floor_power(int64_t n) { return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n))); }

/// Whether vectors can lie along a result axis that is longer than `row`: the sources have unit stride there, or a
/// stride small enough to pick lanes out of whole vectors.
bool results_in_order(const Shape& shape, const ir::Ints& axes, const std::vector<const Strides*>& strides,
                      int64_t row) {
  for (size_t a = 0; a < shape.rank(); ++a) {
    if (shape[a].bound() <= row || ir::contains(axes, static_cast<int64_t>(a))) continue;
    const auto [fewest, most] = std::minmax_element(
        strides.begin(), strides.end(), [a](const Strides* x, const Strides* y) { return (*x)[a] < (*y)[a]; });
    if ((**fewest)[a] >= 0 && (**most)[a] >= 1 && (**most)[a] <= kNear) return true;
  }
  return false;
}

/// Counts, per axis, those of the stored values below elementwise ops that have vectors along it. What does not vary
/// along `inner` is one value or one vector for all of it, and so is not counted.
class VectorCount {
 public:
  VectorCount(const std::vector<UOp>& values, size_t inner) : along(values[0]->rank()), inner_(inner) {
    for (UOp v : values) add(v);
  }
  std::vector<int> along;

 private:
  static constexpr int kMaxLeaves = 64;  ///< paths through a graph may be many

  void add(UOp n) {
    if (leaves_ >= kMaxLeaves) return;
    if (ir::is_movement(n->op)) {
      movements_.push_back(n);
      add(n->src[0]);  // further sources are sizes and offsets
      movements_.pop_back();
    } else if (ir::is_alu(n->op) || n->op == Op::Tf32) {
      for (UOp s : n->src) add(s);
    } else {
      add_leaf(n);
    }
  }
  void add_leaf(UOp n) {
    ++leaves_;
    Strides strides = strides_of(n, {});
    for (size_t i = movements_.size(); i-- > 0;) strides = strides_after(movements_[i], strides);
    if (strides[inner_] == 0) return;
    for (size_t a = 0; a < along.size(); ++a) along[a] += strides[a] == 1 || strides[a] == kUnitRuns;
  }

  const size_t inner_;
  int leaves_ = 0;
  std::vector<UOp> movements_;  ///< above the node, the lowest last
};

/// Whether more of the stored values have vectors along a result axis longer than `row` than along the last reduced
/// one.
bool results_have_more_vectors(const std::vector<UOp>& values, const ir::Ints& axes, int64_t row) {
  const auto inner = static_cast<size_t>(axes.back());
  const std::vector<int> along = VectorCount(values, inner).along;
  for (size_t a = 0; a < along.size(); ++a)
    if (values[0]->shape[a].bound() > row && !ir::contains(axes, static_cast<int64_t>(a)) && along[a] > along[inner])
      return true;
  return false;
}

/// The largest distance between neighbors along an axis; at least 1.
int64_t largest_stride(const std::vector<const Strides*>& strides, size_t axis) {
  int64_t largest = 1;
  for (const Strides* s : strides) largest = std::max(largest, (*s)[axis]);
  return largest;
}

/// Lanes are used if all sources have unit stride along the last reduced axis. They are also used if only some do or
/// if, on CPUs, strides are small enough to pick lanes out of whole vectors, unless vectors along an axis of the
/// results hold more.
int choose_lanes(const std::vector<UOp>& values, const ir::Ints& axes, const std::vector<const Strides*>& strides,
                 bool gpu) {
  const Shape& shape = values[0]->shape;
  const auto inner = static_cast<size_t>(axes.back());
  const int64_t wide = kLaneBytes / static_cast<int64_t>(size_of(values[0]->dtype));
  const int64_t apart = largest_stride(strides, inner);
  const auto has = [&](int64_t stride) {
    return std::ranges::any_of(strides, [&](const Strides* s) { return (*s)[inner] == stride; });
  };
  if (has(kNoStride) || has(kUnitRuns) || apart > (gpu ? 1 : kNear)) return 1;
  if (has(kMixedStride) &&
      (results_in_order(shape, axes, strides, wide - 1) || results_have_more_vectors(values, axes, wide - 1)))
    return 1;
  int64_t total = 1;
  for (int64_t a : axes) total *= shape[a].bound();
  const int64_t row = shape[inner].bound();
  int64_t lanes = wide;
  if (gpu) lanes = std::min(kThreadLanes, floor_power(total));
  // Lanes that cross rows would cost a division per element. So the lane count divides the row, unless the results
  // can fill whole vectors. On a GPU idle threads cost more than the division.
  if (!gpu && axes.size() > 1) {
    if (shape[inner].symbolic() || (row % lanes && (row < kShortRow || results_in_order(shape, axes, strides, row))))
      return 1;
    lanes = std::min(lanes, row & -row);
  }
  if (apart > 1 && results_in_order(shape, axes, strides, std::max(lanes, kFewest - 1))) return 1;
  return total < kShortest * apart ? 1 : static_cast<int>(lanes);
}

/// Whether a sum goes over the trailing axes of sources that are contiguous along them, so that they form one row.
bool is_one_row(const Shape& shape, const ir::Ints& axes, const std::vector<const Strides*>& strides) {
  size_t next = axes.size();
  int64_t inside = 0;  // the previous axis, from innermost outwards
  for (size_t a = shape.rank(); a-- > 0 && next > 0;) {
    if (shape[a] == 1) continue;
    if (axes[next - 1] != static_cast<int64_t>(a) || shape[a].symbolic()) return false;
    --next;
    for (const Strides* s : strides)
      if (inside && (*s)[a] != (*s)[inside] * shape[inside].value()) return false;
    inside = static_cast<int64_t>(a);
  }
  return axes.size() > 1 && axes[0] > 0;
}

/// How many results share an element of each operand.
std::vector<int64_t> operand_reuse(const Shape& shape, const ir::Ints& axes,
                                   const std::vector<const Strides*>& strides) {
  std::vector<int64_t> reuse;
  for (const Strides* s : strides) {
    int64_t& results = reuse.emplace_back(1);
    for (size_t a = 0; a < shape.rank(); ++a)
      if ((*s)[a] == 0 && !ir::contains(axes, static_cast<int64_t>(a))) results *= shape[a].bound();
  }
  return reuse;
}

/// Orders the two factors by axes: the columns of the results, which one of them lacks, belong to the second. Factors
/// with the same axes are ordered by the ops near them.
void order_factors(std::vector<UOp>& values, const ir::Ints& axes, const std::vector<const Strides*>& strides) {
  for (size_t a = values[0]->rank(); a-- > 0;) {
    const bool summed = ir::contains(axes, static_cast<int64_t>(a));
    const bool first = (*strides[0])[a] != 0, second = (*strides[1])[a] != 0;
    if (summed || first == second) continue;
    if (first) std::swap(values[0], values[1]);
    return;
  }
  if (values[1]->order_hash < values[0]->order_hash) std::swap(values[0], values[1]);
}

/// The block of a sum over the outermost axis, which may be an outer range of its kernel. Blocks have at most about
/// `longest` elements if a loop over results separates that range from the other reduced axes: groups of blocks would
/// need that loop around both, or if lanes lie along it. `axes` have sizes other than 1. `apart`: the largest stride
/// along the last of them.
int64_t choose_block(const Shape& shape, const ir::Ints& axes, int lanes, int64_t apart, int64_t longest,
                     const Prices& prices) {
  std::vector<int64_t> leading;
  int64_t rest = 1, kept = 0;
  size_t next = 0;
  for (size_t a = 0; a < shape.rank(); ++a) {
    if (shape[a] == 1) continue;
    const bool summed = next < axes.size() && axes[next] == static_cast<int64_t>(a);
    if (!summed) {
      ++kept;
      continue;
    }
    if (next++ > 0 && shape[a].symbolic()) return 0;
    if (kept)
      rest *= shape[a].bound();
    else
      leading.push_back(shape[a].bound());
  }
  // A sum over all axes treats the last axis as a row if there is another one.
  if (!kept && leading.size() > 1) {
    rest = leading.back();
    leading.pop_back();
  }
  if (leading.empty() || rest == 0) return 0;
  const bool across = kept && rest == 1 && lanes > 1;  // lanes along the outermost axis
  if (across && apart == 1) return 0;                  // contiguous: no row to split by
  const int64_t most =
      kept && (lanes == 1 || across) ? std::max<int64_t>(longest / rest, 1) : std::numeric_limits<int64_t>::max();
  if (const int64_t block = block_of(leading, across ? lanes : 1, most, prices)) return block * rest;
  return !kept && leading[0] > 1 && rest >= kLong / 2 ? rest : 0;
}

/// Whether a combine rounds, so that its error grows with the trip count.
bool adds(ir::Combine combine) {
  return combine == ir::Combine::Add || combine == ir::Combine::Dot || combine == ir::Combine::Moments ||
         combine == ir::Combine::ExpSum;
}

std::vector<Dim> sizes_of(const Shape& shape, const ir::Ints& axes) {
  return ir::mapped(axes, [&](int64_t a) { return shape[a]; });
}

/// Whether n is the value of an ArgMax. The position is the other accumulator.
bool is_largest(UOp n) { return n->reduction().combine == ir::Combine::ArgMax && n->reduction().result == 0; }

/// Values of ArgMax reductions whose positions the plan also computes.
std::unordered_set<UOp> with_places(const PlanGraph& plan) {
  std::unordered_set<UOp> found;
  for (UOp n : ir::topological(values_of(plan)))
    if (n->op == Op::Reduce && n->reduction().combine == ir::Combine::ArgMax && n->reduction().result == 1)
      found.insert(ir::reduce(ir::Combine::ArgMax, n->src, n->reduction().axes, 0));
  return found;
}

}  // namespace

int64_t rows_in_block(int64_t rows, const Prices& prices) {
  if (rows < 2 * prices.block_rows) return 0;
  int64_t block = prices.block_rows;
  while (block * prices.block_count < rows && block < prices.block_most) block *= 2;
  return block;
}

bool is_contraction(ir::Combine combine, const std::vector<UOp>& values, const ir::Ints& axes, const Prices& prices) {
  if (!is_product(combine, values)) return false;
  int64_t results = 1, summed = 1;
  for (size_t a = 0; a < values[0]->rank(); ++a)
    (ir::contains(axes, static_cast<int64_t>(a)) ? summed : results) *= values[0]->shape[a].bound();
  return results > prices.few_results || summed < kLong;
}

bool is_contraction(UOp reduce, const Prices& prices) {
  const ir::ReduceAttr& attr = reduce->reduction();
  return is_contraction(attr.combine, reduce->src, attr.axes, prices);
}

bool is_product(ir::Combine combine, const std::vector<UOp>& values) {
  if (combine != ir::Combine::Dot) return false;
  return std::ranges::all_of(values, [](UOp n) {
    const UOp value = ir::below_movements(n);
    return ir::is_expanded(n) && value->shape.bound() > 1 && value->op != Op::Arange;
  });
}

void choose_reductions(PlanGraph& plan, const runtime::Target& target) {
  const Prices prices = prices_for(target);
  std::vector<Strides> known;  // by id of the new nodes; empty for scalars and unknown nodes
  auto of = [&](const std::vector<UOp>& src) {
    return ir::mapped(src, [&](UOp s) -> const Strides* { return &known.at(s->id); });
  };
  auto note = [&](UOp made) {
    if (made->id < known.size() && !known[made->id].empty()) return made;
    Strides strides = strides_of(made, of(made->src));
    if (made->id >= known.size()) known.resize(made->id + 1);
    known[made->id] = std::move(strides);
    return made;
  };
  const auto unknown = [&](UOp n) { return n->id >= known.size() || known[n->id].empty(); };
  /// Merges all axes from `first` on into one.
  auto flattened = [&](UOp v, size_t first) {
    Shape shape(Shape::Dims(v->shape.begin(), v->shape.begin() + static_cast<std::ptrdiff_t>(first)));
    int64_t row = 1;
    for (size_t a = first; a < v->rank(); ++a) row *= v->shape[a].value();
    shape.push_back(row);
    return note(ir::reshape(v, shape));
  };
  /// The sum over `axes` of a product, in steps of tensor cores; null if they do not compute it.
  auto on_tensor_cores = [&](UOp n, std::vector<UOp> factors, const ir::Ints& axes) -> UOp {
    if (!target.cuda() || !is_product(ir::Combine::Dot, factors)) return {};
    order_factors(factors, axes, of(factors));
    const auto mma = mma_factors(factors, axes, operand_reuse(factors[0]->shape, axes, of(factors)), target);
    if (!mma) return {};
    for (UOp u : ir::topological(mma->values, unknown)) note(u);
    UOp made = note(plan.graph->make({Op::Reduce, n->dtype, ir::without(mma->values[0]->shape, mma->axes), mma->values,
                                      ir::ReduceAttr{ir::Combine::Dot, mma->axes, mma->tree}}));
    if (mma->parts >= 0) made = note(ir::reduce(ir::Combine::Add, made, {mma->parts}));
    return note(ir::reshape(made, n->shape));
  };
  /// The same in two steps; null if one is as good.
  auto in_two_steps = [&](UOp n, const std::vector<UOp>& factors, const ir::Ints& axes,
                          const ir::ReductionTree& tree) -> UOp {
    const auto partial = partial_products(factors, axes, tree, target);
    if (!partial) return {};
    for (UOp u : ir::topological(partial->values, unknown)) note(u);
    const auto sum = [&](ir::Combine combine, const std::vector<UOp>& values, const ir::Ints& over,
                         const ir::ReductionTree& order) {
      return note(plan.graph->make(
          {Op::Reduce, n->dtype, ir::without(values[0]->shape, over), values, ir::ReduceAttr{combine, over, order}}));
    };
    UOp made = sum(ir::Combine::Dot, partial->values, partial->axes, {});
    made = note(plan.graph->make({Op::Contiguous, made->dtype, made->shape, {made}}));
    made = sum(ir::Combine::Add, {made}, partial->blocks, ir::merge_tree(tree, partial->count));
    return note(ir::reshape(made, n->shape));
  };
  const std::unordered_set<UOp> placed = with_places(plan);
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    UOp made;
    if (n->op != Op::Reduce) {
      made = src == n->src ? n : ir::with_sources(*plan.graph, n, src);
    } else {
      ir::ReduceAttr attr = n->reduction();
      std::vector<UOp> values = src;
      const bool product = attr.combine == ir::Combine::Add && src[0]->op == Op::Mul;
      if (product && is_float(n->dtype)) {
        attr.combine = ir::Combine::Dot;
        values = src[0]->src;
      } else if (is_largest(n)) {
        attr.combine = ir::Combine::Max;
        values = {src[0]};
      }
      const ir::Ints given = attr.axes;
      auto axes = ir::filtered<ir::Ints>(attr.axes, [&](int64_t a) { return !(values[0]->shape[a] == 1); });
      const DType dtype = values[0]->dtype;  // the value type decides, for positions too
      // Blocks of a softmax join in order (online_softmax.h), and other trees may be chosen already.
      const bool joins_blocks = attr.combine == ir::Combine::ExpSum && !ir::splat_const(values[1]);
      const bool open = attr.tree == ir::ReductionTree{} && !joins_blocks;
      if (open && (is_float(dtype) || target.cuda()) && !axes.empty()) {
        if (product)
          if (const UOp sum = on_tensor_cores(n, src[0]->src, axes)) return sum;
        const bool contraction = is_contraction(attr.combine, values, axes, prices);
        if (attr.combine == ir::Combine::Dot && target.cuda()) order_factors(values, axes, of(values));
        const bool packed =
            contraction &&
            (target.cuda() ? n->shape.bound() >= kFewOutputs
                           : std::ranges::min(operand_reuse(values[0]->shape, axes, of(values))) >= kPacked);
        if (!packed) attr.tree.lanes = choose_lanes(values, axes, of(values), target.cuda());
        if (!packed && !target.cuda() && attr.tree.lanes == 1 && is_one_row(values[0]->shape, axes, of(values))) {
          for (UOp& v : values) v = flattened(v, static_cast<size_t>(axes[0]));
          attr.axes = axes = {axes[0]};
          attr.tree.lanes = choose_lanes(values, axes, of(values), false);
        }
        const bool rounds = dtype == DType::F32 && adds(attr.combine);
        const int64_t longest = rounds ? kChain * attr.tree.lanes : std::numeric_limits<int64_t>::max();
        if (is_float(dtype) && !contraction)
          attr.tree.block = choose_block(values[0]->shape, axes, attr.tree.lanes,
                                         largest_stride(of(values), static_cast<size_t>(axes.back())), longest, prices);
        if (rounds) attr.tree = blocked_tree(sizes_of(values[0]->shape, axes), attr.tree);
        if (attr.tree.block)
          attr.tree.lanes = static_cast<int>(std::min<int64_t>(attr.tree.lanes, floor_power(attr.tree.block)));
        if (packed)
          if (const UOp sum = in_two_steps(n, values, axes, attr.tree)) return sum;
      }
      // Both are chains that keep the first of equal elements, so the loop that finds the position gives the same bits.
      if (placed.contains(n) && attr.tree == ir::ReductionTree{}) {
        attr.combine = ir::Combine::ArgMax;
        attr.axes = given;
        values = src;
      }
      const Shape shape = ir::without(values[0]->shape, attr.axes);
      made = note(plan.graph->make({Op::Reduce, n->dtype, shape, values, std::move(attr)}));
      made = note(ir::reshape(made, n->shape));
    }
    return note(made);
  });
}

}  // namespace sinter::schedule

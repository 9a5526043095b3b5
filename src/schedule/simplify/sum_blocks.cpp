// Axes are passed through from the innermost outwards: those that fit a block are whole in it, and the first that does
// not is divided.
#include "schedule/simplify/sum_blocks.h"

#include <algorithm>

namespace sinter::schedule {
namespace {

/// Sizes of axes, outermost first; 0: known at the launch only.
using Sizes = std::vector<int64_t>;

/// Of so many elements each, a last one shorter.
int64_t ceil_div(int64_t n, int64_t size) { return (n + size - 1) / size; }

constexpr int64_t kSteps = 16;  ///< of all lanes: loops over so many elements have no rest, however they are unrolled

/// What sizes are to be near to.
struct SizeRange {
  int64_t least, wanted, most;
};

/// A divisor of n for pieces of so many elements, where each value of n has `inside`. Rather one that makes kSteps of
/// all lanes, or else whole steps, and rather a large one; 0 if there is none.
int64_t divisor_near(int64_t n, const SizeRange& near, int64_t inside, int64_t lanes) {
  int64_t best = 0, whole = 0, smooth = 0;
  for (int64_t d = std::max<int64_t>(near.least / inside, 1); d <= std::min(n, near.most / inside); ++d)
    if (n % d == 0) (d * inside % (kSteps * lanes) == 0 ? smooth : d * inside % lanes == 0 ? whole : best) = d;
  return smooth ? smooth : whole ? whole : best;
}

/// How many elements are near to those wanted, so that they are some values of one axis with all of the axes inside it,
/// and divide that axis if others stand around it; 0 if there is no such number. Any number divides the outermost axis:
/// its last piece is shorter.
int64_t aligned_near(const Sizes& sizes, const SizeRange& near, int64_t lanes) {
  int64_t inside = 1;
  for (size_t i = sizes.size(); i-- > 0; inside *= sizes[i]) {
    if (sizes[i] && inside * sizes[i] <= near.most && i > 0) continue;
    const int64_t divisor = sizes[i] ? divisor_near(sizes[i], near, inside, lanes) : 0;
    if (divisor) return divisor * inside;
    if (i == 0) return std::max<int64_t>(near.wanted / inside, 1) * inside;
    return inside >= near.least ? inside : 0;  // the axes inside are one
  }
  return 0;
}

/// The same, and where none is near one that is not as near: pieces that end inside of values are no loops, and codegen
/// makes one axis of all.
int64_t aligned(const Sizes& sizes, const SizeRange& near, int64_t lanes) {
  for (const SizeRange& n : {near, SizeRange{near.least / 8, near.wanted, near.wanted * 2}})
    if (const int64_t elements = aligned_near(sizes, n, lanes)) return elements;
  return near.wanted;
}

/// The axes as blocks of `block` elements see them.
Sizes blocks_of(Sizes sizes, int64_t block) {
  int64_t inside = 1;
  while (sizes.size() > 1 && sizes.back() && inside * sizes.back() <= block) {
    inside *= sizes.back();
    sizes.pop_back();
  }
  const int64_t part = std::max<int64_t>(block / inside, 1);
  sizes.back() = ceil_div(sizes.back(), part);
  return sizes;
}

/// The part of some axes of which so many elements are consecutive: inner axes whole, the outermost cut.
Sizes inner_part(Sizes sizes, int64_t elements) {
  int64_t inside = 1;
  for (size_t i = sizes.size(); i-- > 0; inside *= sizes[i])
    if (i == 0 || sizes[i] == 0 || inside * sizes[i] >= elements) {
      sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(i));
      sizes[0] = std::max<int64_t>(elements / inside, 1);
      break;
    }
  return sizes;
}

/// Groups of so many blocks, rather few groups than two more chains of joins.
SizeRange near_of_groups(int64_t blocks) {
  const int64_t most = ir::ReductionTree::kFanIn * 5 / 4;
  return {std::min(std::max<int64_t>(ceil_div(blocks, ir::ReductionTree::kFanIn), 4), most), ir::ReductionTree::kFanIn,
          most};
}

}  // namespace

ir::ReductionTree blocked_tree(const std::vector<Dim>& axes, ir::ReductionTree tree) {
  int64_t all = 1;
  Sizes sizes;
  for (const Dim& d : axes) {
    all *= d.bound();
    sizes.push_back(d.symbolic() ? 0 : d.value());
  }
  if (all <= kLongestChain) return tree;
  const int64_t longest = kLongestChain * tree.lanes, wanted = tree.block;
  if (all > longest && (wanted == 0 || wanted > longest)) {
    const int64_t chain = kChain * tree.lanes;
    tree.block = aligned(wanted ? inner_part(sizes, wanted) : sizes, {chain / 2, chain, chain * 5 / 4}, tree.lanes);
  }
  if (tree.block == 0) return tree;
  const int64_t blocks = ceil_div(all, tree.block);
  if (wanted % tree.block == 0 && wanted / tree.block > 1 && wanted / tree.block <= 4 * ir::ReductionTree::kFanIn)
    tree.group = wanted / tree.block;  // which the schedule wants by themselves
  else if (blocks > ir::ReductionTree::kFanIn)
    tree.group = aligned(blocks_of(sizes, tree.block), near_of_groups(blocks), 1);
  return tree;
}

}  // namespace sinter::schedule

// Axes are visited from the innermost outwards. Axes that fit into a block are whole in it. The first that does not is
// divided.
#include "schedule/simplify/sum_blocks.h"

#include <algorithm>

#include "ir/ceil_div.h"

namespace sinter::schedule {
namespace {

/// Sizes of axes, outermost first; 0 if known only at launch.
using Sizes = std::vector<int64_t>;

constexpr int64_t kSteps = 16;  ///< steps of all lanes per block: unrolled loops then have no remainder

/// Range of acceptable sizes.
struct SizeRange {
  int64_t least, wanted, most;
};

/// A divisor of n for pieces within `near`, where each value of n covers `inside` elements. Prefers multiples of kSteps
/// of all lanes, then multiples of the lanes, then larger ones. 0 if there is none.
int64_t divisor_near(int64_t n, const SizeRange& near, int64_t inside, int64_t lanes) {
  int64_t best = 0, whole = 0, smooth = 0;
  for (int64_t d = std::max<int64_t>(near.least / inside, 1); d <= std::min(n, near.most / inside); ++d)
    if (n % d == 0) (d * inside % (kSteps * lanes) == 0 ? smooth : d * inside % lanes == 0 ? whole : best) = d;
  return smooth ? smooth : whole ? whole : best;
}

/// A size within `near` that covers some values of one axis with all axes inside it, and divides that axis unless it is
/// the outermost; 0 if there is none. The last piece of the outermost axis may be shorter.
int64_t aligned_near(const Sizes& sizes, const SizeRange& near, int64_t lanes) {
  int64_t inside = 1;
  for (size_t i = sizes.size(); i-- > 0; inside *= sizes[i]) {
    if (sizes[i] && inside * sizes[i] <= near.most && i > 0) continue;
    const int64_t divisor = sizes[i] ? divisor_near(sizes[i], near, inside, lanes) : 0;
    if (divisor) return divisor * inside;
    if (i == 0) return std::max<int64_t>(near.wanted / inside, 1) * inside;
    return inside >= near.least ? inside : 0;  // the inner axes together
  }
  return 0;
}

/// Like aligned_near(), then with a wider range, then `near.wanted`. Pieces that end inside a value of an axis cannot
/// be loops: codegen collapses all axes into one.
int64_t aligned(const Sizes& sizes, const SizeRange& near, int64_t lanes) {
  for (const SizeRange& n : {near, SizeRange{near.least / 8, near.wanted, near.wanted * 2}})
    if (const int64_t elements = aligned_near(sizes, n, lanes)) return elements;
  return near.wanted;
}

/// The axes counted in blocks of `block` elements.
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

/// The part of the axes that holds `elements` consecutive elements: inner axes whole, the outermost one cut.
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

/// Group sizes in blocks. Fewer groups are preferred to two more chains of joins.
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
    tree.group = wanted / tree.block;  // the block that the schedule wanted becomes a group
  else if (blocks > ir::ReductionTree::kFanIn)
    tree.group = aligned(blocks_of(sizes, tree.block), near_of_groups(blocks), 1);
  return tree;
}

}  // namespace sinter::schedule

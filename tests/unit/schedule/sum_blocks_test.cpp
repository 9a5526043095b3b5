// Where blocks of long sums end.
#include "schedule/simplify/sum_blocks.h"

#include "catch.h"

using namespace sinter;

namespace {

/// Whether pieces of so many elements are some values of one axis with all of the axes inside it.
bool is_whole(const std::vector<int64_t>& sizes, int64_t elements) {
  int64_t inside = 1;
  for (size_t i = sizes.size(); i-- > 0; inside *= sizes[i])
    if (elements % inside == 0 && (i == 0 || sizes[i] % (elements / inside) == 0)) return true;
  return false;
}

}  // namespace

TEST_CASE("blocks of sums over images end where rows do", "[schedule]") {
  for (const int64_t images : {1, 3, 16, 32, 128})
    for (int64_t side = 2; side <= 256; ++side) {
      INFO(images << " images of " << side << " x " << side);
      const ir::ReductionTree tree = schedule::blocked_tree({images, side, side}, {});
      if (images * side * side <= 1024) {
        CHECK(tree.block == 0);
        continue;
      }
      CHECK(is_whole({images, side, side}, tree.block));
      if (side <= 128 && tree.group) CHECK(is_whole({images, side, side}, tree.block * tree.group));
      CHECK(tree.block >= 32);
      CHECK(tree.block <= 1024);
    }
}

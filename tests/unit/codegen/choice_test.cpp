// What tests of the heuristic ask for is nothing that a kernel without Opts has.
#include "choice.h"
#include "products.h"

using namespace codegen_test;

TEST_CASE("a kernel without Opts has nothing of what a choice achieves", "[codegen]") {
  const KernelHarness b = product(64, 128, 100);
  const Choice none(b, std::vector<Opt>{});
  for (const int range : {0, 1, 2}) {
    CHECK((none.lanes(range) == 1 && none.copies(range) == 1 && none.width(range) == 1));
    CHECK_FALSE((none.has_lanes(range) || none.has_full_tile(range)));
    CHECK_FALSE((none.is_whole(range) || none.is_blocked(range)));
    CHECK_FALSE((none.is_split(range) || none.is_cut(range)));
  }
  CHECK((none.accumulators() == 1 && none.steps() == 1));
  CHECK((none.tasks(0) == 64 && none.tasks(1) == 100));
  CHECK_FALSE((none.is_shared(0) || none.is_shared(1)));
  CHECK((!none.is_split() && none.depth(2) == 128 && !none.is_outside(2, 1)));
  CHECK((none.packs() == 0 && none.packed_bytes() == 0 && none.panel() == 0 && !none.is_packed_transposed()));
  CHECK((none.materialized() == 0 && none.prefetches() == 0 && !none.stores_past_caches()));
  CHECK_FALSE(Choice(b).opts().empty());
}

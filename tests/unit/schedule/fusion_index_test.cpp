// Indices of the partition: equal ones are one element, and digits say which.
#include <set>

#include "catch.h"
#include "ir/build.h"
#include "schedule/fusion/fusion_index.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;

namespace {

/// The number that an index without opaque dims has where axis a stands at at[a].
std::vector<int64_t> evaluate(const IndexSpace& space, IndexId id, const std::vector<int64_t>& at) {
  std::vector<int64_t> out;
  for (const DimIndex& d : space[id]) {
    REQUIRE_FALSE(d.opaque);
    int64_t i = 0;
    for (const Digit& g : d.digits) i = i * g.size + at[static_cast<size_t>(g.axis)] / g.div % g.size;
    out.push_back(i + d.offset);
  }
  return out;
}

/// Row-major position.
int64_t flat(const Shape& shape, const std::vector<int64_t>& index) {
  int64_t n = 0;
  for (size_t i = 0; i < index.size(); ++i) n = n * shape[i].value() + index[i];
  return n;
}

/// Digits express a reshape if the places at which both shapes cut the flat index divide each other.
bool cuts_meet(const Shape& a, const Shape& b) {
  std::set<int64_t> cuts;
  for (const Shape* shape : {&a, &b}) {
    int64_t n = 1;
    for (size_t i = shape->rank(); i-- > 0;) cuts.insert(n *= (*shape)[i].value());
  }
  int64_t before = 1;
  for (int64_t cut : cuts) {
    if (cut % before) return false;
    before = cut;
  }
  return true;
}

}  // namespace

TEST_CASE("reshape regroups digits, wherever they meet", "[schedule]") {
  Arena g;
  const std::vector<Shape> shapes = {{24}, {4, 6}, {2, 2, 6}, {2, 12}, {3, 8}, {4, 1, 6}, {1, 24}, {2, 3, 4}};
  for (const Shape& to : shapes)
    for (const Shape& from : shapes) {
      UOp x = param(g, 0, DType::F32, from), y = reshape(x, to);
      IndexSpace space;
      const IndexId at = space.fresh(to), there = space.down(y, at);
      bool opaque = false;
      for (const DimIndex& d : space[there]) opaque |= d.opaque;
      INFO(to_string(from) << " as " << to_string(to));
      CHECK(opaque == !cuts_meet(from, to));
      if (opaque) continue;
      std::vector<int64_t> axes;  // in the order of `to`, without sizes of 1
      for (int64_t n = 0; n < 24; ++n) {
        axes.clear();
        int64_t rest = n;
        for (size_t i = to.rank(); i-- > 0;) {
          if (!(to[i] == 1)) axes.insert(axes.begin(), rest % to[i].value());
          rest /= to[i].value();
        }
        CHECK(flat(from, evaluate(space, there, axes)) == n);
      }
    }
}

TEST_CASE("views that come back to the element are the same index", "[schedule]") {
  Arena g;
  IndexSpace space;
  UOp x = param(g, 0, DType::F32, {6, 5});
  const IndexId at = space.fresh(x->shape);
  CHECK(space.down(reshape(reshape(reshape(x, {2, 3, 5}), {30}), {6, 5}), at) == at);
  CHECK(space.down(permute(permute(x, {1, 0}), {1, 0}), at) == at);
  CHECK(space.down(shrink(pad(x, {{2, 8}, {0, 5}}, {9, 5}), {{2, 8}, {0, 5}}), at) == at);
  CHECK_FALSE(space.down(shrink(pad(x, {{2, 8}, {0, 5}}, {9, 5}), {{1, 7}, {0, 5}}), at) == at);
  CHECK_FALSE(space.down(flip(x, {1}), at) == at);
  // Other elements are other indices, though the axes are the same.
  UOp head = shrink(x, {{0, 3}, {0, 5}}), tail = shrink(x, {{3, 6}, {0, 5}});
  const IndexId half = space.fresh(head->shape);
  CHECK_FALSE(space.down(head, half) == space.down(tail, half));
  CHECK_FALSE(space.down(flip(head, {0}), half) == space.down(head, half));
  UOp i = argument(g, 0, DType::Index), j = argument(g, 1, DType::Index);
  auto moved = [&](UOp begin) {
    return g.make({Op::Shrink, DType::F32, {3, 5}, {x, begin, constant(g, DType::Index, 0)}, Region{{0, 3}, {0, 5}}});
  };
  CHECK(space.down(moved(i), half) == space.down(moved(i), half));
  CHECK_FALSE(space.down(moved(i), half) == space.down(moved(j), half));
}

TEST_CASE("axes split where two indices of a dim have other digits", "[schedule]") {
  Arena g;
  IndexSpace space;
  UOp x = param(g, 0, DType::F32, {24});
  const IndexId whole = space.fresh({24}), parts = space.down(reshape(x, {4, 6}), space.fresh({4, 6}));
  space.refine(whole, parts, 0);
  const DimIndex a = space[space.normal(whole)][0], b = space[space.normal(parts)][0];
  REQUIRE(a.digits.size() == 2);
  CHECK(a.digits[0].size == b.digits[0].size);
  CHECK(a.digits[1].size == b.digits[1].size);
  space.unify(a.digits[0].axis, b.digits[0].axis);
  space.unify(a.digits[1].axis, b.digits[1].axis);
  CHECK(space.normal(whole) == space.normal(parts));
  CHECK(space.expand({space[whole][0].digits[0].axis}).size() == 2);
  // Nothing divides an axis into an empty one.
  const IndexId full = space.fresh({3}), empty = space.fresh({0});
  space.refine(full, empty, 0);
  CHECK(space[space.normal(full)][0].digits.size() == 1);
  // Equal sizes alone unify nothing.
  CHECK_FALSE(space.fresh({7, 7}) == space.fresh({7, 7}));
}

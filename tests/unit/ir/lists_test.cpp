// Lists made of other lists.
#include "catch.h"

#include "ir/attr.h"
#include "ir/lists.h"

using namespace sinter;
using ir::filtered, ir::mapped;

TEST_CASE("mapped makes a vector of what the function returns, or the list that is named", "[lists]") {
  struct Pair {
    int number;
    char letter;
    int twice() const { return 2 * number; }
  };
  const std::vector<Pair> pairs{{1, 'a'}, {2, 'b'}};
  CHECK(mapped(pairs, &Pair::letter) == std::vector<char>{'a', 'b'});
  CHECK(mapped(pairs, &Pair::twice) == std::vector<int>{2, 4});
  CHECK(mapped(pairs, [](const Pair& p) { return p.number > 1; }) == std::vector<bool>{false, true});
  CHECK(mapped<ir::Ints>(pairs, &Pair::number) == ir::Ints{1, 2});
  CHECK(mapped<Shape>(std::vector<int64_t>{}, [](int64_t n) { return Dim(n); }) == Shape{});
}

TEST_CASE("filtered keeps elements in their order", "[lists]") {
  const ir::Ints numbers{3, -1, 0, -4};
  const auto negative = [](int64_t n) { return n < 0; };
  CHECK(filtered(numbers, negative) == std::vector<int64_t>{-1, -4});
  CHECK(filtered<ir::Ints>(numbers, negative) == ir::Ints{-1, -4});
  CHECK(filtered(std::vector<Dim>{Dim(2), Dim(3)}, &Dim::symbolic).empty());
}

// Steps beyond the border of an image, where filters are finite and where they are not.
#include <limits>

#include "codegen/kernel/access.h"
#include "unit/codegen/choice.h"
#include "unit/codegen/convolution.h"

using namespace codegen_test;
using codegen::Lanes, codegen::LoopOrder, codegen::TaskBlock, codegen::TileCopy, codegen::Unroll;

namespace {

Convolution small() { return {.rows = 4, .columns = 4, .channels = 8, .filters = 32}; }
/// Lanes along the filters, which are packed, and copies along the columns of the image.
std::vector<Opt> packed(const KernelHarness& b) {
  const int filters = place_of(b, [](UOp n) { return n->op == Op::Load && !codegen::predicate_of(n); });
  return {Lanes{1, 8},
          Unroll{1, 2},
          Unroll{3, 4},
          TaskBlock{1, 32},
          TaskBlock{2, 4},
          TaskBlock{3, 4},
          LoopOrder{{{2, 0}, {3, 0}, {1, 0}, {4, 0}, {5, 0}, {6, 0}}},
          TileCopy{filters, {{4}, {5}, {6}, {.range = 1, .lanes = 8}}, 16},
          Unroll{6, 3}};
}
/// Multiply-adds in the text.
size_t steps(const std::string& text) { return count(text, "fma("); }

}  // namespace

TEST_CASE("steps that a border closes do not run where filters are finite", "[codegen][products]") {
  KernelHarness b = small().kernel();
  // One version without them, and one with all: three loops' bodies, for 4 x 2 vectors and 3 taps.
  CHECK(steps(b.check(packed(b))) >= 3 * 4 * 2 * 3);
  std::vector<Opt> unpacked = packed(b);
  std::erase_if(unpacked, [](const Opt& o) { return std::holds_alternative<TileCopy>(o); });
  CHECK(steps(b.check(unpacked)) < 3 * 4 * 2 * 3);
}

TEST_CASE("a border multiplies infinite filters by 0", "[codegen][products]") {
  for (const double first : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Convolution c = small();
    c.first = first;
    KernelHarness b = c.kernel();
    b.check(packed(b));
  }
}

TEST_CASE("sums that underflow to -0 are +0 behind a border", "[codegen][products]") {
  Convolution c = small();
  c.scale = 1e-23;  // products are below the smallest float
  KernelHarness b = c.kernel();
  b.check(packed(b));
}

TEST_CASE("tiles lie along the rows of a small image, whose border then closes whole steps", "[codegen][products]") {
  const KernelHarness b = Convolution{.rows = 4, .columns = 4, .channels = 64, .filters = 64}.kernel();
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.has_lanes(1));
  CHECK(choice.copies(3) == 4);
  CHECK(choice.copies(2) == 1);
}

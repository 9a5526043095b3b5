// Steps beyond the border of an image, where filters are finite and where they are not.
#include <cmath>
#include <limits>

#include "codegen/kernel/access.h"
#include "unit/codegen/choice.h"
#include "unit/codegen/convolution.h"
#include "unit/host_machine.h"

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
    c.element = first;
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

namespace {

/// Large enough that filters are looked at: 1,024 results use each.
Convolution rows() { return {.rows = 8, .columns = 64, .channels = 4, .filters = 12}; }
/// Lanes along the columns of a gradient by the image, whose rows are copied with the border.
std::vector<Opt> row_copies(const KernelHarness& b) {
  const int image = place_of(b, [](UOp n) { return n->op == Op::Load && codegen::predicate_of(n); });
  return {Lanes{3, 8},
          Unroll{3, 2},
          Unroll{1, 5},
          TaskBlock{1, 15},
          TaskBlock{2, 4},
          TaskBlock{3, 64},
          LoopOrder{{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}}},
          TileCopy{image, {{4}, {.range = 2, .taps = 5}, {.range = 3, .lanes = 8, .taps = 6}}},
          Unroll{6, 3},
          Unroll{5, 3}};
}
/// The text of a checked kernel for so many threads of the host.
std::string checked(const Convolution& c, int threads = 1) {
  runtime::Target target = runtime::host_target();
  target.threads = threads, target.parallel_units = 4 * threads;
  const HostMachine machine(target);
  KernelHarness b = c.image_gradient();
  return b.check(row_copies(b), false);
}
constexpr const char* kLooks = "whether all are finite";

}  // namespace

TEST_CASE("zeros of a tile are multiplied where every filter is finite", "[codegen][products]") {
  const int64_t last = 12 * 4 * 9 - 1;  // in what no whole step covers
  std::vector<std::pair<double, int64_t>> elements{{1, 0}};
  for (const double odd : {double{std::numeric_limits<float>::infinity()}, std::nan("")})
    for (const int64_t at : {int64_t{0}, int64_t{8}, int64_t{31}, int64_t{100}, last - 8, last})
      elements.emplace_back(odd, at);
  for (const auto& [value, at] : elements) {
    INFO("filter element " << at << " is " << value);
    Convolution c = rows();
    c.element = value, c.element_at = at;
    CHECK(count(checked(c), kLooks) == 1);
  }
}

TEST_CASE("sums of -0 behind multiplied zeros are computed as written", "[codegen][products]") {
  Convolution c = rows();
  c.scale = 1e-23;  // products are below the smallest float
  CHECK(count(checked(c), kLooks) == 1);
}

TEST_CASE("filters are looked at where enough results use each of them", "[codegen][products]") {
  const auto looks = [](const Convolution& c, int threads = 1) { return count(checked(c, threads), kLooks) > 0; };
  CHECK(looks(rows()));
  CHECK(!looks(rows(), 16));  // each thread would look
}

TEST_CASE("zeros of a tile are not those of a stricter sum", "[codegen][products]") {
  Convolution c = rows();
  c.also = true;
  CHECK(count(checked(c), kLooks) == 0);
}

TEST_CASE("tiles lie along the rows of a small image, whose border then closes whole steps", "[codegen][products]") {
  const KernelHarness b = Convolution{.rows = 4, .columns = 4, .channels = 64, .filters = 64}.kernel();
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.has_lanes(1));
  CHECK(choice.copies(3) == 4);
  CHECK(choice.copies(2) == 1);
}

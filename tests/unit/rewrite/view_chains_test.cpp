// Named chains of views: each ends with the least possible number of div and mod and finds what a plain array finds.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>

#include "catch.h"
#include "index_oracle.h"
#include "ir/walk.h"
#include "unit/rewrite/share_divisions.h"
#include "view_chain.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::test;

namespace {

struct Case {
  const char* name;
  const char* chain;
  int least;        ///< div and mod in the index and its gate
  const char* why;  ///< x: a flat axis; i, j, k: axes of the result; boundary: a period at which an index carries
};

constexpr Case kChains[] = {
    {"flatten a matrix", "3,4 | reshape 12", 1, "x is row*4 + column: one boundary"},
    {"split into a matrix", "12 | reshape 3,4", 0, "positions of a split are a sum"},
    {"flatten three dims", "2,3,4 | reshape 24", 2, "boundaries at 4 and 12"},
    {"flatten the outer two", "2,3,4 | reshape 6,4", 1, "boundary at 3; the last dim stays"},
    {"flatten the inner two", "2,3,4 | reshape 2,12", 1, "boundary at 4; the first dim stays"},
    {"split the inner", "2,12 | reshape 2,3,4", 0, "a sum"},
    {"split the outer", "6,4 | reshape 2,3,4", 0, "a sum"},
    {"regroup 6x4 as 8x3", "6,4 | reshape 8,3", 1, "flat position 3i+j has one boundary at 4"},
    {"regroup 4x6 as 6x4", "4,6 | reshape 6,4", 1, "4i+j has one boundary at 6"},
    {"regroup 4x6 as 3x8", "4,6 | reshape 3,8", 1, "8i+j has one boundary at 6, whose multiple in i leaves"},
    {"regroup three dims as two", "2,3,4 | reshape 4,6", 2, "6i+j has boundaries at 4 and 12"},
    {"reverse the sizes", "2,3,4 | reshape 4,3,2", 2, "boundaries at 4 and 12 of 6i+2j+k"},
    {"flatten pairs", "2,3,4,5 | reshape 6,20", 2, "one boundary in each pair, on different axes"},
    {"flatten four dims", "2,3,4,5 | reshape 120", 3, "boundaries at 5, 20 and 60"},
    {"split into four", "120 | reshape 2,3,4,5", 0, "a sum"},
    {"flatten a transpose", "3,4 | permute 1,0 | reshape 12", 1, "one boundary at 3"},
    {"transpose of a split", "12 | reshape 3,4 | permute 1,0", 0, "a sum"},
    {"transpose in place", "12 | reshape 3,4 | permute 1,0 | reshape 12", 1, "x%3*4 + x/3: one boundary at 3"},
    {"reverse three digits", "24 | reshape 2,3,4 | permute 2,1,0 | reshape 24", 2, "boundaries at 2 and 6"},
    {"swap the outer digits", "24 | reshape 2,3,4 | permute 1,0,2 | reshape 24", 2, "boundaries at 4 and 8"},
    {"swap the inner digits", "24 | reshape 2,3,4 | permute 0,2,1 | reshape 24", 2, "boundaries at 3 and 12"},
    {"flatten a rotation", "2,3,4 | permute 2,0,1 | reshape 24", 2, "boundaries at 3 and 6"},
    {"flatten with the outer swapped", "2,3,4 | permute 1,0,2 | reshape 24", 2, "boundaries at 4 and 8"},
    {"flatten reversed", "2,3,4 | permute 2,1,0 | reshape 24", 2, "boundaries at 2 and 6"},
    {"flatten a batch of transposes", "2,3,4 | permute 0,2,1 | reshape 2,12", 1, "one boundary at 3; the batch stays"},
    {"transpose, flatten and back, batched", "2,3,4 | permute 0,2,1 | reshape 2,12 | reshape 2,4,3 | permute 0,2,1", 0,
     "the identity"},
    {"transpose, flatten and back", "3,4 | permute 1,0 | reshape 12 | reshape 4,3 | permute 1,0", 0, "the identity"},
    {"flatten and split again", "3,4 | reshape 12 | reshape 3,4", 0, "the identity"},
    {"flatten and split in two", "3,4 | reshape 12 | reshape 2,6", 1, "6i+j has one boundary at 4"},
    {"flatten and split otherwise", "3,4 | reshape 12 | reshape 4,3", 1, "3i+j has one boundary at 4"},
    {"pair the rows", "8,8 | reshape 64 | reshape 4,16", 1, "two rows in one: boundary at 8"},
    {"pair the rows by hand", "8,8 | reshape 4,2,8 | reshape 4,16", 1, "the same"},
    {"tiles 2x2 as rows", "8,8 | reshape 4,2,4,2 | permute 0,2,1,3 | reshape 16,4", 2,
     "a boundary in each output axis"},
    {"tiles 2x2, flat", "8,8 | reshape 4,2,4,2 | permute 0,2,1,3 | reshape 64", 3,
     "boundaries at 2, 4 and 16; four steps, no parallelogram"},
    {"tiles 4x4 as rows", "8,8 | reshape 2,4,2,4 | permute 0,2,1,3 | reshape 2,2,16", 1, "one boundary inside a tile"},
    {"mirror", "5 | flip 0", 0, "n-1-i"},
    {"mirror both axes", "3,4 | flip 0,1", 0, "n-1-i per axis"},
    {"flatten mirrored columns", "3,4 | flip 1 | reshape 12", 1, "one boundary at 4"},
    {"flatten mirrored rows", "3,4 | flip 0 | reshape 12", 1, "one boundary at 4"},
    {"flatten mirrored both", "3,4 | flip 0,1 | reshape 12", 1, "one boundary at 4"},
    {"mirror the flat", "3,4 | reshape 12 | flip 0", 1, "one boundary at 4 of 11-x"},
    {"mirror the flat, split again", "3,4 | reshape 12 | flip 0 | reshape 3,4", 0,
     "both axes mirrored: (4*2+3) - (4i+j) has no carry"},
    {"split the mirrored", "12 | flip 0 | reshape 3,4", 0, "a sum"},
    {"mirror columns of a split", "12 | reshape 3,4 | flip 1 | reshape 12", 1, "one boundary at 4"},
    {"mirror rows of a split", "12 | reshape 3,4 | flip 0 | reshape 12", 1, "one boundary at 4"},
    {"mirror all of a split", "12 | reshape 3,4 | flip 0,1 | reshape 12", 0, "4*(x/4) + x%4 is x: 11-x"},
    {"mirror twice", "12 | reshape 3,4 | flip 0 | flip 0 | reshape 12", 0, "the identity"},
    {"pad", "5 | pad 1:1", 0, "a shift and a gate"},
    {"pad and cut back", "5 | pad 2:3 | shrink 2:7", 0, "the identity, gate and all"},
    {"pad and cut the end", "5 | pad 2:3 | shrink 0:5", 0, "a shift; only the lower gate stays"},
    {"pad twice", "5 | pad 1:1 | pad 2:0", 0, "shifts add"},
    {"pad, mirror, pad", "5 | pad 2:0 | flip 0 | pad 0:3", 0, "shifts and mirrors add"},
    {"flatten a padded matrix", "3,4 | pad 1:0,0:2 | reshape 24", 1, "boundary at 6; the gate reads its remainder"},
    {"pad the flat by half rows", "3,4 | reshape 12 | pad 2:2 | reshape 4,4", 1,
     "4i+j-2 has a boundary at 4 that moves with j"},
    {"pad the flat by a row behind", "3,4 | reshape 12 | pad 0:4 | reshape 4,4", 0, "whole rows: the gate is i < 3"},
    {"pad the flat by a row before", "3,4 | reshape 12 | pad 4:0 | reshape 4,4", 0, "whole rows: i-1"},
    {"pad the flat, other rows", "3,4 | reshape 12 | pad 0:3 | reshape 5,3", 1, "3i+j has one boundary at 4"},
    {"cut the first row off the flat", "3,4 | reshape 12 | shrink 4:12", 1, "one boundary at 4"},
    {"cut the first row off, split again", "3,4 | reshape 12 | shrink 4:12 | reshape 2,4", 0, "whole rows"},
    {"cut half rows off", "3,4 | reshape 12 | shrink 2:10 | reshape 2,4", 1, "4i+j+2 has one boundary at 4"},
    {"cut the flat in half", "3,4 | reshape 12 | shrink 0:6", 1, "one boundary at 4"},
    {"cut the flat to a row", "3,4 | reshape 12 | shrink 0:4", 0, "the first row"},
    {"flatten the lower rows", "3,4 | shrink 1:3,0:4 | reshape 8", 1, "one boundary at 4"},
    {"flatten the middle columns", "3,4 | shrink 0:3,1:3 | reshape 6", 1, "one boundary at 2"},
    {"flatten one row", "3,4 | shrink 1:2,0:4 | reshape 4", 0, "one row has no boundary"},
    {"flatten one column", "3,4 | shrink 0:3,2:3 | reshape 3", 0, "one column has no boundary"},
    {"repeat rows", "1,4 | expand 3,4", 0, "the row's index is 0"},
    {"repeat rows, flat", "1,4 | expand 3,4 | reshape 12", 1, "x%4"},
    {"repeat columns, flat", "4,1 | expand 4,3 | reshape 12", 1, "x/3"},
    {"repeat columns, flat and back", "4,1 | expand 4,3 | reshape 12 | reshape 4,3", 0, "the expand alone"},
    {"tile a vector", "4 | reshape 1,4 | expand 3,4 | reshape 12", 1, "x%4"},
    {"repeat each element", "4 | reshape 4,1 | expand 4,3 | reshape 12", 1, "x/3"},
    {"tile and repeat", "4 | reshape 1,4,1 | expand 3,4,2 | reshape 24", 2, "(x/2)%4: steps of 0, 1 and -3"},
    {"tile, rows that do not fit", "1,4 | expand 3,4 | reshape 12 | reshape 2,6", 1, "(6i+j)%4"},
    {"repeat in the middle, flat", "2,1,3 | expand 2,4,3 | reshape 24", 2, "x/12 and x%3"},
    {"repeat in the middle, outer flat", "2,1,3 | expand 2,4,3 | reshape 8,3", 1, "i/4"},
    {"repeat in the middle, inner flat", "2,1,3 | expand 2,4,3 | reshape 2,12", 1, "j%3"},
    {"repeat and split the copies", "4,1 | expand 4,6 | reshape 4,2,3", 0, "the copies have no index"},
    {"repeat and share the copies out", "4,1 | expand 4,6 | reshape 8,3", 1, "i/2"},
    {"repeat and cut to one", "4,1 | expand 4,6 | reshape 24 | shrink 0:6", 0, "x < 6, so x/6 is 0"},
    {"zeros between elements", "6 | reshape 6,1 | pad 0:0,0:1 | reshape 12", 1,
     "the gate asks whether x is even, which no interval says; x/2 shares its division"},
    {"zeros between, last one cut", "6 | reshape 6,1 | pad 0:0,0:1 | reshape 12 | shrink 0:11", 1, "as before"},
    {"zeros around elements", "6 | reshape 6,1 | pad 0:0,1:2 | reshape 24", 1,
     "the gate asks for x%4 = 1; x/4 shares its division"},
    {"every other element", "12 | reshape 6,2 | shrink 0:6,0:1 | reshape 6", 0, "2i"},
    {"every other element, odd ones", "12 | reshape 6,2 | shrink 0:6,1:2 | reshape 6", 0, "2i+1"},
    {"every third, padded to fit", "13 | pad 0:2 | reshape 5,3 | shrink 0:5,0:1 | reshape 5", 0,
     "3i, and the pad is never met"},
    {"every third, cut to fit", "13 | shrink 0:12 | reshape 4,3 | shrink 0:4,0:1 | reshape 4", 0, "3i"},
    {"padded rows, flat, cut", "2,8 | pad 0:0,1:1 | reshape 20 | shrink 0:18", 1,
     "boundary at 10; the gate reads its remainder"},
    {"repeat, cut, rows of 8", "1,10 | expand 3,10 | reshape 30 | shrink 0:24 | reshape 3,8", 1, "(8i+j)%10"},
    {"windows of 5 of a vector", "1,8 | expand 5,8 | reshape 40 | shrink 0:36 | reshape 4,9 | shrink 0:4,0:5", 0,
     "(9i+j)%8 is i+j for i+j < 8"},
    {"windows, transposed", "1,8 | expand 5,8 | reshape 40 | shrink 0:36 | reshape 4,9 | shrink 0:4,0:5 | permute 1,0",
     0, "the same"},
    {"windows of 6 of a vector", "1,8 | expand 7,8 | reshape 56 | shrink 0:54 | reshape 6,9 | shrink 0:3,0:6", 0,
     "i+j"},
    {"windows of an image",
     "6,6 | reshape 1,6,1,6 | expand 4,6,4,6 | reshape 24,24 | shrink 0:21,0:21 | reshape 3,7,3,7"
     " | shrink 0:3,0:4,0:3,0:4",
     0, "i+j and k+l"},
    {"padded image, planes flat", "2,6,6 | pad 0:0,1:1,1:1 | reshape 2,64", 1,
     "boundary at 8; the gates read both digits"},
    {"padded image, flat", "2,6,6 | pad 0:0,1:1,1:1 | reshape 128", 2, "boundaries at 8 and 64"},
    {"padded image in 2x2 tiles", "2,6,6 | pad 0:0,1:1,1:1 | reshape 2,4,2,4,2 | permute 0,1,3,2,4 | reshape 2,16,4", 2,
     "one boundary in the tile's number, one inside the tile"},
    {"padded image in 2x2 tiles, unflattened", "2,6,6 | pad 0:0,1:1,1:1 | reshape 2,4,2,4,2 | permute 0,1,3,2,4", 0,
     "sums"},
    {"rows dealt to two, flat halves", "4,4 | reshape 4,2,2 | permute 1,0,2 | reshape 2,8", 1, "boundary at 2"},
    {"rows dealt to two, flat", "4,4 | reshape 4,2,2 | permute 1,0,2 | reshape 16", 2, "boundaries at 2 and 8"},
    {"swap batch and rows, flat", "4,6,8 | permute 1,0,2 | reshape 24,8", 1, "boundary at 4"},
    {"swap batch and rows, rows flat", "4,6,8 | permute 1,0,2 | reshape 6,32", 1, "boundary at 8"},
    {"swap batch and rows, all flat", "4,6,8 | permute 1,0,2 | reshape 192", 2, "boundaries at 8 and 32"},
    {"transpose and split", "4,6,8 | permute 0,2,1 | reshape 4,8,2,3 | permute 0,2,1,3", 0, "3k+l"},
    {"split into heads", "4,6,8 | reshape 4,6,2,4 | permute 0,2,1,3", 0, "4k+l"},
    {"split into heads, rows flat", "4,6,8 | reshape 4,6,2,4 | permute 0,2,1,3 | reshape 8,24", 2,
     "one boundary in each output axis"},
    {"split into heads, batch flat", "4,6,8 | reshape 4,6,2,4 | permute 0,2,1,3 | reshape 8,6,4", 1, "boundary at 2"},
    {"join heads", "4,2,6,4 | permute 0,2,1,3 | reshape 4,6,8", 1, "boundary at 4"},
    {"join heads, rows flat", "4,2,6,4 | permute 0,2,1,3 | reshape 24,8", 2,
     "boundaries at 6 and at 4, on different axes"},
    {"join heads, flat", "4,2,6,4 | permute 0,2,1,3 | reshape 192", 3, "boundaries at 4, 8 and 48"},
    {"an axis of one comes and goes", "7 | reshape 7,1 | expand 7,1 | reshape 7", 0, "the identity"},
    {"axes of one move", "1,1,5 | reshape 5 | reshape 5,1 | expand 5,2", 0, "the identity on the last axis"},
    {"swap halves of quarters", "16 | reshape 4,4 | reshape 2,2,4 | permute 1,0,2 | reshape 16", 2,
     "boundaries at 4 and 8"},
    {"transpose twice", "16 | reshape 4,4 | permute 1,0 | reshape 16 | reshape 4,4 | permute 1,0 | reshape 16", 0,
     "the identity"},
    {"deal and gather", "16 | reshape 2,8 | permute 1,0 | reshape 16 | reshape 8,2 | permute 1,0 | reshape 16", 0,
     "the identity"},
    {"deal twice", "16 | reshape 2,8 | permute 1,0 | reshape 16 | reshape 2,8 | permute 1,0 | reshape 16", 1,
     "rotates four bits by two: x%4*4 + x/4"},
    {"deal three times",
     "16 | reshape 2,8 | permute 1,0 | reshape 16 | reshape 2,8 | permute 1,0 | reshape 16 | reshape 2,8"
     " | permute 1,0 | reshape 16",
     1, "rotates four bits by three: x%8*2 + x/8"},
    {"deal four times",
     "16 | reshape 2,8 | permute 1,0 | reshape 16 | reshape 2,8 | permute 1,0 | reshape 16 | reshape 2,8"
     " | permute 1,0 | reshape 16 | reshape 2,8 | permute 1,0 | reshape 16",
     0, "rotates four bits all the way round"},
    {"pad columns, flat, last cut", "3,5 | pad 0:0,0:1 | reshape 18 | shrink 0:17", 1, "boundary at 6"},
    {"pad columns, flat, mirrored", "3,5 | pad 0:0,3:0 | reshape 24 | flip 0", 1, "boundary at 8 of 23-x"},
    {"pad a row behind, flat", "3,5 | pad 0:1,0:0 | reshape 20", 1, "boundary at 5; the gate is x < 15"},
    {"pad a row before, flat", "3,5 | pad 1:0,0:0 | reshape 20", 1, "boundary at 5; the gate is x >= 5"},
    {"pad rows, flat, cut back", "3,5 | pad 1:1,0:0 | reshape 25 | shrink 5:20", 1, "the flat matrix: boundary at 5"},
    {"pad rows, flat, cut and split back", "3,5 | pad 1:1,0:0 | reshape 25 | shrink 5:20 | reshape 3,5", 0,
     "the identity"},
    {"windows by a slide", "8,1 | expand 8,5 | slide 0:1:4", 0, "i+j"},
    {"windows by a slide, two apart", "8,1 | expand 8,3 | slide 0:2:4", 0, "i+2j"},
    {"a window slid back", "4,5 | slide 0:-1:8", 0, "i-j; the gate is i-j in [0, 4)"},
    {"slid there and back", "8,5 | slide 0:1:4 | slide 0:-1:8", 0, "i; the gate is i-j in [0, 4)"},
    {"windows of 3, every second",
     "9 | pad 0:1 | reshape 5,1,2 | expand 5,2,2 | slide 0:1:4 | reshape 4,4 | shrink 0:4,0:3", 0,
     "2i+j, and the pad is never met"},
    {"windows of 2, every second", "8 | reshape 4,1,2 | slide 0:1:4 | reshape 4,2", 0, "2i+j"},
    {"windows of an image, slid", "6,6 | reshape 6,1,6,1 | expand 6,3,6,3 | slide 0:1:4 | slide 2:1:4", 0,
     "i+j and k+l"},
    {"a padded image's windows", "6,6 | pad 1:1,1:1 | reshape 8,1,8,1 | expand 8,3,8,3 | slide 0:1:6 | slide 2:1:6", 0,
     "i+j-1 and k+l-1, with their gates"},
    {"shift a vector", "8 | pad 1:0 | shrink 0:8", 0, "i-1"},
    {"shift a vector, split", "8 | pad 1:0 | shrink 0:8 | reshape 2,4", 0, "4i+j-1"},
    {"shift the flat", "2,4 | reshape 8 | pad 1:0 | shrink 0:8", 1, "x-1 has one boundary at 4"},
    {"shift the flat, split back", "2,4 | reshape 8 | pad 1:0 | shrink 0:8 | reshape 2,4", 1,
     "4i+j-1 has one boundary at 4 that moves with j"},
};

int divisions(const std::vector<UOp>& roots) {
  int n = 0;
  for (UOp u : topological(roots)) n += u->op == Op::IDiv || u->op == Op::Mod;
  return n;
}

std::vector<UOp> roots_of(const ElementIndex& place) {
  std::vector<UOp> roots = place.index;
  if (place.valid) roots.push_back(place.valid);
  return roots;
}

/// The first element whose place is not what the plain array says, or empty.
std::string mismatch(const ViewChain& chain, const Positions& expected, const ChainIndex& index,
                     const std::vector<UOp>& roots) {
  Oracle oracle(roots);
  for (size_t n = 0; n < expected.source.size(); ++n) {
    std::vector<Scalar> point(expected.shape.size());
    size_t flat = n;
    for (size_t i = point.size(); i-- > 0; flat /= static_cast<size_t>(expected.shape[i]))
      point[i] = Scalar::of(DType::Index, static_cast<int64_t>(flat % static_cast<size_t>(expected.shape[i])));
    const std::vector<Scalar> v = oracle.at(index.ranges, point);
    int64_t source = 0;
    for (size_t d = 0; d < chain.shape.size(); ++d) source = source * chain.shape[d] + v[d].as_int();
    if (index.place.valid && !v.back().as_int()) source = -1;
    if (source != expected.source[n])
      return fmt::format("element {} is {} of the source, not {}", n, source, expected.source[n]);
  }
  return {};
}

/// One more step for an array of this shape, which becomes the shape after it.
void random_step(std::mt19937& random, std::vector<int64_t>& shape, ViewStep& s) {
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const size_t rank = shape.size();
  s.args.resize(rank);
  switch (pick(rank > 1 ? 7 : 6)) {
    case 0: {
      s.op = "reshape";
      std::vector<int64_t> primes;
      for (int64_t d : shape)
        for (int64_t p = 2; d > 1; ++p)
          for (; d % p == 0; d /= p) primes.push_back(p);
      shape.clear();
      std::shuffle(primes.begin(), primes.end(), random);
      for (int64_t p : primes) {
        if (shape.empty() || pick(2))
          shape.push_back(p);
        else
          shape.back() *= p;
      }
      if (shape.empty() || pick(3) == 0) shape.push_back(1);
      s.args.clear();
      for (int64_t d : shape) s.args.push_back({d});
      return;
    }
    case 1: {
      s.op = "permute";
      for (size_t a = 0; a < rank; ++a) s.args[a] = {static_cast<int64_t>(a)};
      std::shuffle(s.args.begin(), s.args.end(), random);
      const std::vector<int64_t> before = shape;
      for (size_t a = 0; a < rank; ++a) shape[a] = before[static_cast<size_t>(s.args[a][0])];
      return;
    }
    case 2:
      s.op = "expand";
      for (size_t a = 0; a < rank; ++a) s.args[a] = {shape[a] = shape[a] == 1 ? 1 + pick(3) : shape[a]};
      return;
    case 3:
      s.op = "flip";
      s.args = {{pick(static_cast<int64_t>(rank))}};
      return;
    case 6: {
      s.op = "slide";
      const int64_t axis = pick(static_cast<int64_t>(rank) - 1), size = 1 + pick(6);
      s.args = {{axis, pick(7) - 3, size}};
      shape[static_cast<size_t>(axis)] = size;
      return;
    }
    case 4:
      s.op = "pad";
      for (size_t a = 0; a < rank; ++a) s.args[a] = {pick(3), pick(3)}, shape[a] += s.args[a][0] + s.args[a][1];
      return;
    default:
      s.op = "shrink";
      for (size_t a = 0; a < rank; ++a) {
        const int64_t begin = pick(shape[a]), end = begin + 1 + pick(shape[a] - begin);
        s.args[a] = {begin, end}, shape[a] = end - begin;
      }
      return;
  }
}

}  // namespace

TEST_CASE("named chains of views end with the least possible number of div and mod", "[rewrite][views]") {
  std::set<std::string> names;
  int bounded = 0;
  for (const Case& c : kChains) {
    INFO(c.name << ": " << c.chain << " (" << c.why << ")");
    CHECK(names.insert(c.name).second);
    const ViewChain chain = parse_chain(c.chain);
    const Positions expected = apply(chain);
    Arena g;
    const ChainIndex index = index_of(g, chain);
    const std::vector<UOp> plain = roots_of(index.place), shared = share_divisions(g, plain);
    CHECK(mismatch(chain, expected, index, plain) == "");
    CHECK(mismatch(chain, expected, index, shared) == "");
    CHECK(divisions(shared) == c.least);
    const int bound = least_divisions(expected, chain.shape);
    CHECK(bound <= c.least);
    bounded += bound == c.least;
  }
  CHECK(names.size() >= 100);
  std::printf("views: %zu chains, in %d the count meets the computed lower bound\n", names.size(), bounded);
  CHECK(bounded >= 120);  // the others have a gate that needs what the index alone does not
}

TEST_CASE("random chains of views find what a plain array finds", "[rewrite][views]") {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    const int64_t sizes[] = {1, 2, 3, 4, 6};
    ViewChain chain;
    for (unsigned i = 0, rank = 1 + random() % 3; i < rank; ++i) chain.shape.push_back(sizes[random() % 5]);
    std::vector<int64_t> shape = chain.shape;
    for (unsigned i = 0, steps = 1 + random() % 6; i < steps; ++i) {
      ViewStep s;
      std::vector<int64_t> after = shape;
      random_step(random, after, s);
      int64_t elements = 1;
      for (int64_t d : after) elements *= d;
      if (elements > 600) continue;
      chain.steps.push_back(s);
      shape = after;
    }
    Arena g;
    const ChainIndex index = index_of(g, chain);
    const Positions expected = apply(chain);
    const std::string wrong = mismatch(chain, expected, index, roots_of(index.place));
    const std::string shared = mismatch(chain, expected, index, share_divisions(g, roots_of(index.place)));
    if (wrong.empty() && shared.empty()) continue;
    std::string text;
    for (const ViewStep& s : chain.steps) text += fmt::format(" | {} {}", s.op, s.args);
    FAIL(fmt::format("{}{}: {} {}", fmt::join(chain.shape, ","), text, wrong, shared));
  }
}

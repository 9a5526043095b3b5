// Chains of views as text, for the table in view_chains_test.cpp:  "2,3,4 | permute 2,0,1 | reshape 8,3 | pad 1:0,2:2".
//   reshape SHAPE · permute ORDER · expand SHAPE · flip AXES · pad BEFORE:AFTER per axis · shrink BEGIN:END per axis
//   slide AXIS:STEP:SIZE
// Two readings of a chain: as ops of the IR, and as a plain array of source positions that each op rearranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rewrite/movement_index.h"

namespace sinter::test {

struct ViewStep {
  std::string op;
  std::vector<std::vector<int64_t>> args;  ///< one list per axis
};
struct ViewChain {
  std::vector<int64_t> shape;
  std::vector<ViewStep> steps;
};

ViewChain parse_chain(const std::string& text);

/// The shape of the result and, for each of its elements in row-major order, its position in the source or -1 in a pad.
struct Positions {
  std::vector<int64_t> shape, source;
};
Positions apply(const ViewChain& chain);

/// The place in the source (one index per dim, and the gate) as expressions of one range per axis of the result.
struct ChainIndex {
  std::vector<ir::UOp> ranges;
  ir::ElementIndex place;
};
ChainIndex index_of(ir::Graph& g, const ViewChain& chain);

/// A lower bound of the div and mod that any such index needs, whatever is written with + - * by constants, div and
/// mod. Along one axis the differences of k of them take at most 2^k values together (the difference of floor(y/c)
/// takes two values for each difference of y, and y%c is y - c*floor(y/c)), so D different steps of the index vector
/// need log2 D; the four steps of two divisions form a parallelogram. And each makes one more dimension of functions
/// beside the affine ones: rank of the index vector modulo affine functions. Says nothing of what the gate needs.
int least_divisions(const Positions& positions, const std::vector<int64_t>& source_shape);

}  // namespace sinter::test

// The plan graph as the partition sees it: movement ops are edges, everything else is a node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/graph/fusion_cost.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

enum class FusionNodeKind : uint8_t {
  Buffer,  ///< an existing buffer: a Param
  Elementwise,
  Reduce,
  Gather,
  Scatter,     ///< owns its loops
  Opaque,      ///< SORT, LAPACK: a kernel of its own from stored values to rows; always stored
  Scan,        ///< one loop per row that stores every step; always stored
  Contiguous,  ///< an elementwise copy that is always stored
  Store,       ///< an output that no node computes in that layout: a view or a constant
  Box          ///< an output of which only the box in its home is stored
};

/// An input of a node: another node through the movement ops from `head` down, or a constant expression without a
/// buffer (node -1).
struct FusionEdge {
  ir::UOp head;
  int node = -1;
};

struct FusionNode {
  ir::UOp uop;
  FusionNodeKind kind;
  uint32_t number = 0;  ///< %number in a dump of the outputs
  std::vector<FusionEdge> sources;
  std::vector<int> outputs;  ///< indices of the plan's outputs that have this value
  std::vector<int> before;   ///< nodes that overwrite in place what this one reads: they run later
  ir::UOp target;            ///< of a Box: the part of the home that it fills, a view of the version
  /// Of a Scatter: itself. Of a Box that a SCATTER fills in place: that SCATTER, whose sources are then the node's and
  /// whose updates alone are stored. Else null.
  ir::UOp scatter = {};

  // Cost estimates, known before the pass. Sizes are bounds.
  int64_t numel = 0, bytes = 0;
  int64_t domain = 0;  ///< elements computed: for a reduction, those of its source
  /// Bytes of the largest buffer that it is computed from, or of the largest product that is worth storing.
  int64_t frontier = 0;
  int64_t read_bytes = 0;    ///< bytes to read for one use, stored or recomputed
  double own = 0;            ///< ns to evaluate all elements once
  double chain = 0;          ///< the same, of the longest chain of elementwise nodes that it is computed from
  bool product = false;      ///< a matrix product: each factor lacks an axis of the result
  bool contraction = false;  ///< a product whose results threads share, so that its sum stays whole
  bool mma = false;          ///< a product on tensor cores: all axes of its result are outer ranges of its kernel
  int anchor = -1;           ///< the large contraction whose epilogue this is
  /// The first product of a chain on tensor cores that one kernel computes, a block at a time: a product and the ExpSum
  /// that joins blocks of a second product, or one or two products and sums over blocks of values made from them. -1:
  /// part of no such chain.
  int pair = -1;
  bool ends_pair = false;  ///< behind all sums of its pair, an elementwise result
  /// Of a contraction: result axes along which a factor's windows slide.
  std::vector<int> sliding = {};

  /// Reduces or scatters: a loop for each element of the result. Not a Scan, which has one for each row.
  bool loops() const { return kind == FusionNodeKind::Reduce || scatter; }
};

/// Nodes, sources before users.
struct FusionGraph {
  std::vector<FusionNode> nodes;
  std::vector<int> homes;  ///< per output: the slot to write in place, or -1
  /// Per output: the node that computes it.
  std::vector<int> output_nodes;
};

/// Box and After differ only by the home, so the outputs must have been through lower_versions().
FusionGraph build_fusion_graph(const PlanGraph& plan, const Prices& prices);

/// Whether two nodes are accumulators of one reduction: equal but for the accumulator.
bool is_same_reduction(const FusionNode& a, const FusionNode& b);

/// For example "Add#12 float32[4, 5]": %12 in the dump of the plan.
std::string to_string(const FusionNode& node);

}  // namespace sinter::schedule

// A plan graph as the partition sees it: movement ops have become edges, what remains are nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/graph/fusion_cost.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

enum class FusionNodeKind : uint8_t {
  Buffer,  ///< memory that exists: a Param
  Elementwise,
  Reduce,
  Gather,
  ScatterAdd,  ///< owns its loops
  Scan,        ///< one loop per row, which emits as it goes; always stored
  Contiguous,  ///< an elementwise copy that is always stored
  Store,       ///< an output that no node computes as it lies: a view, or a constant
  Box          ///< an output that is written into its box of the home only
};

/// What a node reads: another node through the movement nodes from `head` down, or numbers that need no memory (node
/// -1).
struct FusionEdge {
  ir::UOp head;
  int node = -1;
};

struct FusionNode {
  ir::UOp uop;
  FusionNodeKind kind;
  uint32_t number = 0;  ///< the node is %number in a dump of the outputs
  std::vector<FusionEdge> sources;
  std::vector<int> outputs;  ///< numbers of the plan's outputs that are this value
  std::vector<int> before;   ///< nodes that write in place what this one reads: they run later
  ir::UOp target;            ///< of a Box: the SHRINK of the home that it fills

  // Known before the pass, for prices. Sizes are bounds.
  int64_t numel = 0, bytes = 0;
  int64_t domain = 0;        ///< points at which something is computed: of a reduction, those of its source
  int64_t frontier = 0;      ///< bytes of the largest buffer that it is made of
  int64_t read_bytes = 0;    ///< what reading it costs, stored or recomputed
  double own = 0;            ///< ns to evaluate it once everywhere
  bool contraction = false;  ///< a product of matrices: both factors lack an axis of the result
  int anchor = -1;           ///< the big contraction of which this is an epilogue
  /// Of a contraction: axes of the result along which windows of a factor slide.
  std::vector<int> sliding = {};

  /// Has a loop of its own inside one point of its result.
  bool loops() const { return kind == FusionNodeKind::Reduce || kind == FusionNodeKind::ScatterAdd; }
};

/// Stages, sources before users.
struct FusionGraph {
  std::vector<FusionNode> nodes;
  std::vector<int> homes;  ///< per output: the slot that it is to be written into in place, or -1
  /// The node behind each output.
  std::vector<int> output_nodes;
};

/// A Box is told from an After by its home: graph outputs must have been through lower_versions().
FusionGraph build_fusion_graph(const PlanGraph& plan, const Prices& prices);

/// Whether two nodes are accumulators of one reduction: equal but for which of them they are.
bool is_same_reduction(const FusionNode& a, const FusionNode& b);

/// "Add#12 float32[4, 5]": %12 in the dump of the plan.
std::string to_string(const FusionNode& node);

}  // namespace sinter::schedule

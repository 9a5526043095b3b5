// From the nodes of a request to the positions of a plan: equal nodes become one (SEMANTICS N5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/liveness.h"

namespace sinter::plan {

/// A source of a position: another position, or (negative) a constant, which is repeated per use (N1).
struct SourceRef {
  int32_t index = 0;
  bool constant() const { return index < 0; }
  size_t position() const { return static_cast<size_t>(index); }
  size_t number() const { return static_cast<size_t>(-1 - int64_t{index}); }  ///< in CanonicalProgram::constants
  friend bool operator==(SourceRef, SourceRef) = default;
};

/// How a position with history reads a source: what must be kept of the source if the position is kept.
enum class Backing : uint8_t {
  None,     ///< the source has dropped its history
  Value,    ///< the source has no history: while it is lazy, a gradient recomputes it
  History,  ///< the source has history of its own
};

struct HistoryEdge {
  int32_t position, source;
  Backing backing;
  friend auto operator<=>(const HistoryEdge&, const HistoryEdge&) = default;
};

/// A class of equal nodes.
struct Position {
  ir::UOp node;  ///< the first of them in the walk, as representative
  uint32_t first_source = 0, source_count = 0;
  int32_t slot = -1;  ///< or the storage of the value, maybe read in other shapes too; no sources then
  int32_t home = -1;  ///< of a version: the storage it may overwrite
  bool root = false;
  bool outlives = false;       ///< something outside the plan holds one of the nodes
  bool backs_outside = false;  ///< something outside the plan holds one that has history
};

/// A storage that the plan reads or may write.
struct StorageUse {
  ir::Storage* storage;
  ir::UOp node;    ///< a node whose value is there, or a version that may overwrite it: gives shape and dtype
  int owners = 0;  ///< nodes of the plan whose value is there
  /// All nodes whose value is there are in the plan, and writing is not forbidden.
  bool writable() const;
};

struct CanonicalProgram {
  std::vector<ir::UOp> nodes;        ///< sources first; without constants
  std::vector<int32_t> position_of;  ///< per node
  std::vector<Position> positions;   ///< sources first
  std::vector<SourceRef> sources;
  std::vector<ir::UOp> constants;    ///< Const, possibly under Expand and Reshape
  std::vector<HistoryEdge> history;  ///< by position, without duplicates
  std::vector<StorageUse> storages;  ///< by slot number
  std::vector<int32_t> roots;        ///< positions in the order requested, without duplicates
  bool lean = false;                 ///< Request::lean

  std::span<const SourceRef> sources_of(const Position& p) const {
    return {sources.data() + p.first_source, p.source_count};
  }
  /// For a version that a SCATTER into its box of the old value fills: the position of the SHRINK that reads this box.
  /// Both boxes are one, whatever the offsets are in the next call. -1: no such version.
  int32_t box_of_updates(const Position& version) const;
};

/// Requires a liveness that is neither claimed nor mixed.
CanonicalProgram canonicalize(const Request& request, const Liveness& liveness);

/// Bytes of `device` memory that only these nodes hold and that is freed when the roots are computed. Values needed by
/// history (SEMANTICS H3) and values held by something else stay.
uint64_t bytes_freed(const CanonicalProgram& plan, Device device);

}  // namespace sinter::plan

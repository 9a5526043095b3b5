// From what a request reaches to the list of a plan's positions: equal nodes become one (SEMANTICS N5).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/liveness.h"

namespace sinter::plan {

/// A source of a position: another position, or (negative) a constant, which every use writes out for itself (N1).
struct SourceRef {
  int32_t index = 0;
  bool constant() const { return index < 0; }
  size_t position() const { return static_cast<size_t>(index); }
  size_t number() const { return static_cast<size_t>(~index); }  ///< in CanonicalProgram::constants
  friend bool operator==(SourceRef, SourceRef) = default;
};

/// How a position that has history reads a source: what the source needs to be kept with, if the position is.
enum class Backing : uint8_t {
  None,     ///< the source has let its history go
  Value,    ///< the source has none: while it is lazy a gradient computes it again
  History,  ///< the source has history of its own
};

struct HistoryEdge {
  int32_t position, source;
  Backing backing;
  friend auto operator<=>(const HistoryEdge&, const HistoryEdge&) = default;
};

/// A class of equal nodes.
struct Position {
  ir::UOp node;  ///< the first of them in the walk: speaks for all
  uint32_t first_source = 0, source_count = 0;
  int32_t slot = -1;  ///< not -1: the value lies in this storage, which other shapes may share; no sources then
  int32_t home = -1;  ///< of a version: the storage it may be written into
  bool root = false;
  bool outlives = false;       ///< something beside the plan holds one of the nodes
  bool backs_outside = false;  ///< something beside the plan holds one that has history
};

/// A storage that the plan reads or may write.
struct StorageUse {
  ir::Storage* storage;
  ir::UOp node;    ///< one whose value lies there, or the version that may: says shape and dtype
  int owners = 0;  ///< nodes of the plan whose value lies there
  /// Everything whose value lies there is in the plan, and nobody forbids to write.
  bool writable() const;
};

struct CanonicalProgram {
  std::vector<ir::UOp> nodes;        ///< sources first; constants are left out
  std::vector<int32_t> position_of;  ///< of each node
  std::vector<Position> positions;   ///< sources first
  std::vector<SourceRef> sources;
  std::vector<ir::UOp> constants;    ///< Const, perhaps under Expand and Reshape
  std::vector<HistoryEdge> history;  ///< by position, each once
  std::vector<StorageUse> storages;  ///< by slot number
  std::vector<int32_t> roots;        ///< positions in the order asked, each once
  bool lean = false;                 ///< Request::lean

  std::span<const SourceRef> sources_of(const Position& p) const {
    return {sources.data() + p.first_source, p.source_count};
  }
};

/// Of a reach that is neither claimed nor mixed.
CanonicalProgram canonicalize(const Request& request, const Liveness& liveness);

/// Bytes of the memory that only these nodes hold, and that goes when the roots are computed: what a value with history
/// needs (SEMANTICS H3) and what something else holds stays.
uint64_t bytes_let_go(const CanonicalProgram& plan, Device device);

}  // namespace sinter::plan

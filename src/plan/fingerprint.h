// The shape of a walk, without pointers to its nodes. A program seen before is recognized by one comparison; its
// canonical program, key and executable are then rebound to the new nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/canonicalize.h"
#include "plan/plan_key.h"

namespace sinter::plan {

class Fingerprint {
 public:
  Fingerprint() = default;
  /// Of a walk, with the plan and the key made from it.
  Fingerprint(const Request& request, const Liveness& liveness, const CanonicalProgram& plan, const PlanKey& plan_key);

  /// Default-constructed: of no walk.
  bool empty() const { return nodes_.empty(); }
  /// Whether this walk would give the same plan, key and numbers, but for the values of NUMs. `plan` is that of the
  /// constructor or of the last rebind(); its pointers are not dereferenced.
  bool matches(const Request& request, const Liveness& liveness, const CanonicalProgram& plan) const;
  /// Replaces nodes, storages and numbers by those of a walk that matches.
  void rebind(const Liveness& liveness, CanonicalProgram& plan, PlanKey& plan_key) const;

 private:
  /// Everything that canonicalize() and make_plan_key() read of a node. Of a node with storage: dtype, device, shape
  /// and slot.
  struct NodePrint {
    ir::FormRef form;
    uint8_t state;
    int32_t slot = -1, home = -1;       ///< storages, numbered in order of first use
    InlineVector<uint32_t, 4> sources;  ///< indices into the walk
  };
  class StorageNumbering;

  std::vector<NodePrint> nodes_;  ///< in walk order
  // The contents of the plan, as indices into the walk.
  std::vector<uint32_t> roots_, plan_nodes_, positions_, constants_;
  struct StoragePrint {
    uint32_t node;
    int alignment;
    bool writable;
  };
  std::vector<StoragePrint> storages_;
  struct Num {
    uint32_t node;
    uint32_t number;  ///< in PlanKey::numbers
  };
  std::vector<Num> nums_;
};

}  // namespace sinter::plan

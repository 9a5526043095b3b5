// What a walk looked like, without pointers to its nodes: by it a program that was met before is known again at the
// price of a comparison, and what merging, keying and looking up said of it then holds for the new nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/canonicalize.h"
#include "plan/plan_key.h"

namespace sinter::plan {

class Fingerprint {
 public:
  Fingerprint() = default;
  /// Of a walk, and of what was made of it.
  Fingerprint(const Request& request, const Liveness& liveness, const CanonicalProgram& plan, const PlanKey& plan_key);

  /// Of no walk.
  bool empty() const { return nodes_.empty(); }
  /// Whether this walk would give the same plan of the same key and the same numbers, but for those of NUMs. `plan` is
  /// the one of the constructor or of the last rebind(); none of its pointers is followed.
  bool matches(const Request& request, const Liveness& liveness, const CanonicalProgram& plan) const;
  /// Puts the nodes, storages and numbers of a walk that fits in the places of those before.
  void rebind(const Liveness& liveness, CanonicalProgram& plan, PlanKey& plan_key) const;

 private:
  /// A node: all of it that canonicalize() and make_plan_key() look at. One with storage is type, device, shape and
  /// slot.
  struct NodePrint {
    ir::FormRef form;
    uint8_t state;
    int32_t slot = -1, home = -1;       ///< storages, numbered as they are met
    InlineVector<uint32_t, 4> sources;  ///< places in the walk
  };
  class StorageNumbering;

  std::vector<NodePrint> nodes_;  ///< in the order of the walk
  // What stands in the plan, by places in the walk.
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

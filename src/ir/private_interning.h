// Interning within one function: whether one of its nodes is alive must not depend on who builds an equal node
// elsewhere.
#pragma once

#include <cstdint>

namespace sinter::ir {

/// While alive, the calling thread's nodes merge with one another, but with no other node of the tensor graph. A plan
/// merges equal nodes all the same (SEMANTICS N5). Requires a GraphScope.
class PrivateInterning {
 public:
  PrivateInterning();
  ~PrivateInterning();
  PrivateInterning(const PrivateInterning&) = delete;
  PrivateInterning& operator=(const PrivateInterning&) = delete;

 private:
  const uint64_t before_;
};

}  // namespace sinter::ir

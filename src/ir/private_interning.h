// Interning within one function: whether a node of it is held must not depend on who builds an equal one elsewhere.
#pragma once

#include <cstdint>

namespace sinter::ir {

/// While alive, the calling thread's nodes are merged with one another and with no other node of the tensor graph. A
/// plan merges equal nodes all the same (SEMANTICS N5). Inside a GraphScope.
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

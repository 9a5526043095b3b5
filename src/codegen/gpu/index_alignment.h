// What divides an index, so that an access to several elements is aligned to its size.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/ssa/instructions.h"

namespace sinter::codegen {

inline constexpr int64_t kAccessBytes = 16;  ///< of the widest access to memory

/// A power of two, up to 16, that divides every value of an index.
class IndexAlignment {
 public:
  explicit IndexAlignment(const Instructions& code) : code_(code), known_(code.insts.size(), 0) {}

  int64_t of(Id id) {
    int64_t& known = known_[id];
    if (known == 0) known = find(code_[id]);
    return known;
  }

 private:
  static constexpr int64_t kMax = 16;

  static int64_t of_number(int64_t n);
  int64_t find(const Inst& n);

  const Instructions& code_;
  std::vector<int64_t> known_;
};

}  // namespace sinter::codegen

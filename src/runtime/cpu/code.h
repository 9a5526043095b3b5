// Machine code in memory, wherever it came from: our own loader or dlopen.
#pragma once

#include <cstddef>
#include <string>

namespace sinter::runtime::cpu {

class MachineCode {
 public:
  struct Symbol {
    const void* address = nullptr;  ///< null: there is no such function
    size_t size = 0;                ///< bytes of code; 0 where that is not known
  };

  virtual ~MachineCode() = default;
  virtual Symbol find(const std::string& name) const = 0;
};

}  // namespace sinter::runtime::cpu

// Machine code in memory, from our own loader or from dlopen.
#pragma once

#include <cstddef>
#include <string>

namespace sinter::runtime::cpu {

class MachineCode {
 public:
  struct Symbol {
    const void* address = nullptr;  ///< null: no such function
    size_t size = 0;                ///< bytes of code; 0 if unknown
  };

  virtual ~MachineCode() = default;
  virtual Symbol find(const std::string& name) const = 0;
};

}  // namespace sinter::runtime::cpu

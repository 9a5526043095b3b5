// A device fault: what compute-sanitizer reports, or the driver as a sticky error.
#pragma once

#include <stdexcept>
#include <string>

#include "runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda::sim {

class Fault : public std::runtime_error {
 public:
  Fault(CudaResult code, const std::string& text) : std::runtime_error(text), code_(code) {}
  CudaResult code() const { return code_; }

 private:
  CudaResult code_;
};

}  // namespace sinter::runtime::cuda::sim

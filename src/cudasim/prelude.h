// What CUDA C++ finds without a header and Clang must be told: built-in variables and functions, by the names that
// NVRTC knows.
#pragma once

namespace sinter::runtime::cuda::sim {

extern const char* const kPrelude;

}  // namespace sinter::runtime::cuda::sim

// Declarations that NVRTC provides without a header and Clang does not, as far as generated kernels and the tests of
// the simulator use them: built-in variables and functions.
#pragma once

namespace sinter::runtime::cuda {

extern const char* const kPrelude;

}  // namespace sinter::runtime::cuda

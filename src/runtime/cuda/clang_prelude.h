// Declarations that NVRTC provides without a header and Clang does not: built-in variables and functions.
#pragma once

namespace sinter::runtime::cuda {

extern const char* const kPrelude;

}  // namespace sinter::runtime::cuda

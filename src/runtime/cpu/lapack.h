// LAPACK, an optional library that is opened on first use. Kernels call it through sinter_lapack(), which the loader
// binds.
#pragma once

#include <cstdint>
#include <string>

namespace sinter::runtime::cpu {

/// Why there is no LAPACK, and what to do; empty if it was opened. SINTER_LAPACK names the library, otherwise it is
/// liblapack.so.3. Safe from several threads.
const std::string& lapack_missing();

}  // namespace sinter::runtime::cpu

/// Runs the routine on the matrices begin to end - 1. `job` is {routine, options, cutoff's bits, bytes of a number, m,
/// n, r} (ir/lapack_call.h); b is null without a second source. The results of a matrix for which the routine fails are
/// NaN, and kMatrixError (runtime/base/error_word.h) is returned. A routine also fails where there is no memory for it,
/// or no LAPACK.
extern "C" int sinter_lapack(const int64_t* job, void* to, const void* a, const void* b, int64_t begin,
                             int64_t end) noexcept;

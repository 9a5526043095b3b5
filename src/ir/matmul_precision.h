// Whether products of float32 may be computed in tf32: the program's setting (SEMANTICS F8).
#pragma once

#include <cstdint>

namespace sinter::ir {

/// Of float32 products, as in PyTorch. Medium permits bfloat16 too, which nothing uses.
enum class MatmulPrecision : uint8_t { Highest, High, Medium };

/// The program's setting, per process.
MatmulPrecision matmul_precision();
void set_matmul_precision(MatmulPrecision precision);
/// Whether factors may be rounded to tf32.
inline bool allows_tf32() { return matmul_precision() != MatmulPrecision::Highest; }

}  // namespace sinter::ir

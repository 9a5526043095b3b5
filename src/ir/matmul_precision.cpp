// The process-wide setting. Calls that build products read it.
#include "ir/matmul_precision.h"

#include <atomic>

namespace sinter::ir {
namespace {

std::atomic<MatmulPrecision> chosen = MatmulPrecision::Highest;

}  // namespace

MatmulPrecision matmul_precision() { return chosen.load(std::memory_order_relaxed); }
void set_matmul_precision(MatmulPrecision precision) { chosen.store(precision, std::memory_order_relaxed); }

}  // namespace sinter::ir

// CPU rates per core are to each other as they were measured on one AVX-512 core, and scale with the vector width; in
// all they are those of whole launches on a Zen 2, in the middle (tests/data/launch-times-zen2.tsv). GPU rates per
// multiprocessor are from the H200 data sheet; they are not measured, so they decide orders of magnitude only.
#include "schedule/graph/fusion_cost.h"

#include <algorithm>

namespace sinter::schedule {

namespace {

Prices prices_for_gpu(const runtime::Target& target) {
  Prices p;
  p.launch = 1500;
  p.small_kernel = 3000;
  p.long_sum = 5;
  p.memory = 32.0 * target.threads;
  p.cached = 3 * p.memory;
  p.cached_bytes = target.l2 / 2;
  p.elementwise = 128.0 * target.threads;
  p.contraction = 2 * p.elementwise;
  p.tensor = 13 * p.contraction;  // hand-written mma.sync kernels on an H100: 440 TFLOP/s
  p.parallel = target.parallel_units;
  p.threads_per_block = 128;
  p.row_bytes = target.shared / 8;
  p.row_bytes_far = target.shared / 2;
  p.partial_bytes = target.shared / 4;
  p.block_rows = 8;
  p.block_count = 512;
  p.block_most = 1 << 16;
  return p;
}

}  // namespace

Prices prices_for(const runtime::Target& target) {
  if (target.cuda()) return prices_for_gpu(target);
  Prices p;
  p.lanes = std::max(1, target.vector_bytes / 4);
  const auto lanes = static_cast<double>(p.lanes * target.threads);
  p.elementwise = 1.5 * lanes;
  p.contraction = (target.fma ? 5.2 : 2.6) * target.multiplies_per_cycle * lanes;
  p.cached = 66.7 * target.threads;
  p.cached_bytes = target.l2;
  p.parallel = target.parallel_units;
  p.few_results = 256;
  p.row_bytes = target.l1 / 2;
  p.row_bytes_far = target.l2 / 2;
  p.partial_bytes = 2 * target.l1;
  return p;
}

double weight_of(Op op) {
  switch (op) {
    case Op::Div:
    case Op::Sqrt:
    case Op::IDiv:
    case Op::Mod: return 4;
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::FMod: return 8;
    case Op::Expm1:
    case Op::Log1p:
    case Op::Tanh: return 9;
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Atan2:
    case Op::Erf:
    case Op::Log10:
    case Op::Pow: return 12;
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Erfc:
    case Op::Erfinv: return 20;
    case Op::Threefry: return 90;
    default: return 1;
  }
}

}  // namespace sinter::schedule

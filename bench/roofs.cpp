// Prints the machine's roofs with N threads: FLOP/s, bytes/s of a copy, bytes/s of a read. `cuda [MIB]`: those of the first GPU, of
// which only the copy is measured, by the driver's own, of so much memory.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "runtime/cpu/roofs.h"
#include "runtime/cuda/device.h"

namespace {

/// Bytes per second that a copy reads and writes: the best of some turns of several copies each.
double gpu_copy(size_t bytes) {
  constexpr int kTurns = 5, kCopies = 20;
  const auto device = sinter::runtime::cuda::Context::get(0);
  const auto from = device->allocator().allocate(bytes), to = device->allocator().allocate(bytes);
  device->fill(from, 1, bytes);
  double best = 0;
  for (int turn = 0; turn <= kTurns; ++turn) {  // the first is a warm-up
    device->synchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCopies; ++i) device->copy(to, from, bytes);
    device->synchronize();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (turn) best = std::max(best, 2.0 * kCopies * static_cast<double>(bytes) / passed.count());
  }
  device->allocator().deallocate(from, bytes);
  device->allocator().deallocate(to, bytes);
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "cuda") {
    const size_t mib = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1024;
    std::printf("nan %.6g nan\n", gpu_copy(mib << 20));
    return 0;
  }
  const auto roofs = sinter::runtime::cpu::measure_roofs(argc > 1 ? std::atoi(argv[1]) : 1);
  std::printf("%.6g %.6g %.6g\n", roofs.flops, roofs.copy, roofs.read);
}

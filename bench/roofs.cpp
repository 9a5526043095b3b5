// The machine's roofs, as a worker that takes turns with the others: a case is a unit, its time that of a thousand
// million of it.
//   flops  multiply-adds, 2 FLOPs each; not of a GPU, for which cuBLAS stands
//   copy   bytes that a copy reads and writes; of a GPU by the driver's own
//   read   bytes that a sum reads; not of a GPU
// BENCH_THREADS says with how many threads, SINTER_DEVICE whether of the first GPU (cuda).
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cpu/roofline.h"
#include "runtime/cuda/context.h"
#include "worker.h"

namespace cuda = sinter::runtime::cuda;

namespace {

constexpr double kUnits = 1e9;

/// Copies between two GiB of a GPU's memory, more than its caches hold.
class GpuCopy {
 public:
  ~GpuCopy() {
    for (const cuda::DevicePointer memory : {from_, to_}) device_->allocator().deallocate(memory, kBytes);
  }
  /// Bytes per second.
  double operator()() {
    constexpr int kCopies = 20;
    device_->synchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCopies; ++i) device_->copy(to_, from_, kBytes);
    device_->synchronize();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return 2.0 * kCopies * static_cast<double>(kBytes) / passed.count();
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 30;
  const std::shared_ptr<cuda::Context> device_ = cuda::Context::get(0);
  const cuda::DevicePointer from_ = device_->allocator().allocate(kBytes), to_ = device_->allocator().allocate(kBytes);
};

bench::BenchCase rounds(std::function<double()> rate) {
  const auto seconds = [rate = std::move(rate)] { return kUnits / rate(); };
  return {.run = seconds, .check = [] { return std::vector<double>{kUnits}; }, .seconds = seconds};
}

}  // namespace

int main(int argc, char** argv) {
  const char *device = std::getenv("SINTER_DEVICE"), *threads = std::getenv("BENCH_THREADS");
  const auto family = [](std::function<double()> rate) {
    return bench::CaseFamily{[rate = std::move(rate)](const bench::Arguments&) { return rounds(rate); }};
  };
  if (device && std::string_view(device) == "cuda") {
    GpuCopy copy;
    return bench::serve(argc, argv, {{"copy", family(std::ref(copy))}});
  }
  sinter::runtime::cpu::RooflineBenchmark loops(threads ? std::atoi(threads) : 1);
  return bench::serve(argc, argv,
                      {{"flops", family([&] { return loops.flops(); })},
                       {"copy", family([&] { return loops.copy(); })},
                       {"read", family([&] { return loops.read(); })}});
}

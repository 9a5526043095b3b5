// A worker: a process that runs the cases of the benchmark on one library. Those of Sinter and of the C++ peers share
// this file, those in Python worker.py; what they say to the driver (bench.py) is the same.
//
// A case is a family and its arguments: "sgemm:tn:784x256x128". A 16-bit type may stand before them:
// "bf16:gemm:nn:64x64x64". On stdin each line is CASE SECONDS; the answer is one line,
//   CASE ok RUNS MEDIAN_US VALUE,VALUE,...     or     CASE error TEXT
// where the median is over the runs of at least so many seconds, in steady state, and the values are what the case
// computes: the driver compares them between libraries. `WORKER --once CASE STEPS` answers CASE ok PEAK_KIB VALUE,...
// as soon as a training took so many steps from process start, with the library's own initial values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// Memory at multiples of a cache line, as Sinter's own is: what begins elsewhere costs each vector a second line.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* data, size_t) { ::operator delete(data, kLine); }
  bool operator==(const AlignedAllocator&) const = default;
};

/// Operands and results of C++ peers.
using Floats = std::vector<float, AlignedAllocator<float>>;

/// Steps of training whose losses are compared: the falls of the last ones are far above float32's rounding of the
/// loss.
constexpr int kCheckedSteps = 6;

/// The parts of a case's name.
struct Arguments {
  std::vector<std::string> parts;              ///< split at ':', the family first
  std::string type = "float32";                ///< bfloat16 or float16 where bf16 or f16 stands before them
  const std::string& text(size_t i) const;     ///< throws std::invalid_argument where there is none
  std::vector<int64_t> sizes(size_t i) const;  ///< "784x256x128"; the same error
};

/// A case that is ready: its inputs exist.
struct BenchCase {
  std::function<void()> run;                   ///< once, finished when it returns
  std::function<std::vector<double>()> check;  ///< what it computes; called once, before the first run
  std::function<double()> seconds = {};        ///< runs once, and says what of it counts; null: all of run()
};

struct CaseFamily {
  std::function<BenchCase(const Arguments&)> make;
  /// Losses of `steps` steps of training from the library's own initial values, for --once; empty for what is no
  /// training.
  std::function<std::vector<double>(const Arguments&, int steps)> train = {};
  bool narrow = false;  ///< whether it also knows the 16-bit types; the other families know float32 alone
};

/// Numbers in [-0.5, 0.5) that every worker can make: a hash of the index and the seed.
Floats uniform(size_t count, uint32_t seed);
/// Labels below `classes`, in the same way.
std::vector<int64_t> labels(size_t count, int64_t classes);
/// Norm and projection on uniform(count, 99): what is compared of a large result.
std::vector<double> fingerprint(std::span<const float> data);

/// The main function of a worker.
int serve(int argc, char** argv, const std::map<std::string, CaseFamily>& families);

}  // namespace bench

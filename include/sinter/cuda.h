// NVIDIA GPUs: whether there are any, what they are, what is held on them.
#pragma once

#include <cstdint>
#include <string>

#include "sinter/arg.h"

namespace sinter {
inline namespace v0 {
/// NVIDIA GPUs: whether there are any, what they are, what is held on them. Everything is safe from several threads.
namespace cuda {

/// Whether tensors can be computed on a GPU: there is a driver of the right age, a device, and NVRTC to compile kernels
/// with, or a cache folder that was filled for such a GPU. Under SINTER_DEVICE=cuda-sim these are simulated.
bool is_available();

/// A sentence that says what is missing for is_available(), where it was looked for, and what to do; empty if nothing
/// is.
std::string unavailable_reason();

/// GPUs that the driver shows; 0 without a driver.
int device_count();

/// What a GPU is. Sizes are bytes.
struct Properties {
  std::string name;                      ///< "NVIDIA H200"
  std::string uuid;                      ///< "GPU-" and 32 hexadecimal digits in five groups
  int compute_capability = 0;            ///< 90 for 9.0
  int multiprocessors = 0;               ///< each runs several blocks of threads at once
  int threads_per_block = 0;             ///< at most
  uint64_t memory = 0;                   ///< of the device
  uint64_t l2_cache = 0;                 ///< shared by all multiprocessors
  uint64_t shared_memory_per_block = 0;  ///< at most
  double memory_bandwidth = 0;           ///< bytes per second, by its clock and width; 0 if the driver does not say
  std::string compiler;  ///< "NVRTC 12.8 (/usr/local/cuda/lib64/libnvrtc.so.12)"; empty if there is none
};
/// Throws UsageError for a number that no device has, BackendError where there is no driver.
Properties properties(int device = 0, Loc where = Loc::current());

/// Memory of one GPU, as the blocks behind tensors have it. Sizes are bytes.
struct MemoryStats {
  uint64_t live = 0;    ///< in use by tensors and running plans
  uint64_t peak = 0;    ///< the most that was in use at once
  uint64_t pooled = 0;  ///< freed, and kept for the next request
  uint64_t limit = 0;   ///< by SINTER_MEMORY_LIMIT
  uint64_t total = 0;   ///< what the device has
};
/// Errors as for properties().
MemoryStats memory_stats(int device = 0, Loc where = Loc::current());

/// Waits until everything that was asked of the device is done. Throws BackendError if a kernel failed; else as
/// properties().
void synchronize(int device = 0, Loc where = Loc::current());

/// Waits for the device, and gives what is pooled back to the driver. Errors as for synchronize().
void release_pool(int device = 0, Loc where = Loc::current());

}  // namespace cuda
}  // namespace v0
}  // namespace sinter

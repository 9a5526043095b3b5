// NVIDIA GPUs: which there are, their properties, and their memory.
#pragma once

#include <cstdint>
#include <string>

#include "sinter/arg.h"

namespace sinter::inline v0 {
/// NVIDIA GPUs: which there are, their properties, and their memory. Every function is safe from several threads.
namespace cuda {

/// Whether tensors can be computed on a GPU. That needs a driver of a supported version, a device, and either NVRTC to
/// compile kernels or a cache folder that was filled for such a GPU. With SINTER_DEVICE=cuda-sim these are simulated.
bool is_available();

/// A sentence for the user: what is_available() lacks, where it was searched, and what to do. Empty if nothing is
/// missing.
std::string unavailable_reason();

/// The number of GPUs that the driver shows; 0 without a driver.
int device_count();

/// Properties of a GPU. Sizes are in bytes.
struct Properties {
  std::string name;                      ///< "NVIDIA H200"
  std::string uuid;                      ///< "GPU-" and 32 hexadecimal digits in five groups
  int compute_capability = 0;            ///< 90 for 9.0
  int multiprocessors = 0;               ///< each runs several blocks of threads at once
  int threads_per_block = 0;             ///< at most
  uint64_t memory = 0;                   ///< of the device
  uint64_t l2_cache = 0;                 ///< shared by all multiprocessors
  uint64_t shared_memory_per_block = 0;  ///< at most
  double memory_bandwidth = 0;           ///< bytes per second, from clock and bus width; 0 if not reported
  std::string compiler;  ///< "NVRTC 12.8 (/usr/local/cuda/lib64/libnvrtc.so.12)"; empty if there is none
};
/// Throws UsageError for a number that no device has, BackendError if there is no driver.
Properties properties(int device = 0, Loc where = Loc::current());

/// Memory of one GPU, counted in the allocator's blocks. Sizes are in bytes.
struct MemoryStats {
  uint64_t live = 0;    ///< in use by tensors and running plans
  uint64_t peak = 0;    ///< largest use so far
  uint64_t pooled = 0;  ///< freed, and cached for the next request
  uint64_t limit = 0;   ///< set by SINTER_MEMORY_LIMIT
  uint64_t total = 0;   ///< memory of the device
};
/// Errors as for properties().
MemoryStats memory_stats(int device = 0, Loc where = Loc::current());

/// Waits until the device has finished all work. Throws BackendError if a kernel failed; otherwise as properties().
void synchronize(int device = 0, Loc where = Loc::current());

/// Waits for the device, and returns pooled memory to the driver. Errors as for synchronize().
void release_pool(int device = 0, Loc where = Loc::current());

}  // namespace cuda
}  // namespace sinter::inline v0

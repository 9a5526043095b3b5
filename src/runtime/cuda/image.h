// Compiled kernels on devices: the image that a compiler produced, and the functions loaded from it per device.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cuda/driver.h"

namespace sinter::runtime {
struct KernelSource;
}

namespace sinter::runtime::cuda {

class Context;

/// A function loaded on one device, ready to launch.
struct DeviceKernel {
  std::shared_ptr<const std::string> name;
  FunctionHandle function = nullptr;
  unsigned threads = 0;   ///< per block
  unsigned shared = 0;    ///< dynamic shared memory in bytes per block
  int static_shared = 0;  ///< statically declared shared memory in bytes
  int registers = 0;      ///< per thread
  int local = 0;          ///< local memory in bytes per thread: spilled registers and indexed arrays
};

/// A kernel and, if it has one, its epilogue kernel, launched after it.
struct LoadedKernel {
  DeviceKernel main;
  std::unique_ptr<DeviceKernel> epilogue;
  int64_t epilogue_blocks = 1;
  bool takes_tickets = false;  ///< see KernelSource
};

/// The compiled image of a KernelSource, for any device of one architecture. Safe from several threads.
class Image {
 public:
  /// `bytes`: a CUBIN, or PTX for a simulated device.
  Image(const KernelSource& kernel, std::string bytes);
  /// Unloads the image from all devices, after their running work has finished.
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  /// The kernel on this device, loaded at the first call. Throws BackendError if the device rejects it, or if the
  /// device has less shared memory than the kernel needs; the message has both numbers.
  const LoadedKernel& load_on(Context& context) const;

  const std::string& bytes() const { return bytes_; }

 private:
  struct LoadedModule {
    std::weak_ptr<Context> context;
    ModuleHandle module;
    LoadedKernel kernel;
  };
  DeviceKernel function(Context& context, ModuleHandle module, const std::string& name, unsigned threads) const;

  std::string name_, bytes_;
  bool has_epilogue_, takes_tickets_;
  int64_t epilogue_blocks_;
  unsigned threads_, epilogue_threads_, shared_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<LoadedModule>> loaded_;  ///< one per device
};

/// Whether the image is for sm_`sm` or for a lower architecture of the same generation. False if `image` is not an
/// image.
bool runs_on_sm(const std::string& image, int sm);

}  // namespace sinter::runtime::cuda

// Compiled kernels on devices: the image that a compiler made, and the functions that a device gets from it.
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

/// A function on one device, ready to be launched.
struct DeviceKernel {
  std::shared_ptr<const std::string> name;
  FunctionHandle function = nullptr;
  unsigned threads = 0;   ///< of a block
  unsigned shared = 0;    ///< bytes of dynamic shared memory of a block
  int static_shared = 0;  ///< bytes that the kernel declares itself
  int registers = 0;      ///< of a thread
  int local = 0;          ///< bytes of local memory of a thread: spilled registers, arrays that are indexed
};

/// A kernel and, if it has one, its epilogue kernel: a launch after it.
struct LoadedKernel {
  DeviceKernel main;
  std::unique_ptr<DeviceKernel> epilogue;
  int64_t epilogue_blocks = 1;
};

/// What a compiler made of a KernelSource, for any device of one architecture. Safe from several threads.
class Image {
 public:
  /// `bytes`: a CUBIN, or PTX for a simulated device.
  Image(const KernelSource& kernel, std::string bytes);
  /// Unloads it from all devices, which first end what they are at.
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  /// The kernel on this device, loaded at the first call. Throws BackendError if the device refuses it, or has less
  /// shared memory than it needs: then with both numbers.
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
  bool has_epilogue_;
  int64_t epilogue_blocks_;
  unsigned threads_, epilogue_threads_, shared_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<LoadedModule>> loaded_;  ///< one per device
};

/// Whether the image says that it is for sm_`sm`, or for a lower architecture of the same generation; false for what is
/// no image at all.
bool runs_on_sm(const std::string& image, int sm);

}  // namespace sinter::runtime::cuda

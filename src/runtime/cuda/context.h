// One GPU: its context, one stream that executes all work in order, its memory, and asynchronous errors.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/target.h"
#include "runtime/cuda/device_allocator.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/image.h"
#include "runtime/cuda/pinned_staging.h"

namespace sinter::runtime::cuda {

/// Device properties reported by the driver. Sizes are in bytes.
struct DeviceProperties {
  std::string name;
  Uuid uuid = {};
  int sm = 0;  ///< compute capability, 90 for 9.0
  int multiprocessors = 0;
  int warp = 0;                        ///< threads per warp
  int threads_per_block = 0;           ///< maximum
  int threads_per_multiprocessor = 0;  ///< maximum
  int registers_per_multiprocessor = 0;
  int64_t memory = 0;
  int64_t l2 = 0;
  int64_t shared_per_block = 0;  ///< opt-in maximum
  int64_t shared_per_multiprocessor = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int bus_bits = 0;  ///< width of the memory bus

  /// Peak rates, from clocks and widths as the driver reports them.
  double flops() const;         ///< FLOP/s of float32 multiply-adds, which count as two
  double tensor_flops() const;  ///< the same of tensor cores, for 16-bit floats and dense matrices; 0: unknown
  double bandwidth() const;     ///< bytes/s of the memory
};

/// A device in use. All work goes to one stream in the order of the calls. Only calls that return values to the host
/// wait. A kernel fault loses the context for good: the call that observes it and every later one throw a BackendError
/// that says so and names the kernel. All methods are safe from several threads.
class Context : public std::enable_shared_from_this<Context> {
 public:
  /// The device with this index. The first call creates its context. Throws BackendError with the reason if CUDA is
  /// unavailable, UsageError with the number of devices if the index does not exist.
  static std::shared_ptr<Context> get(int index);

  Context(const DriverApi& driver, int index, bool simulated);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DriverApi& driver() const { return driver_; }
  int index() const { return index_; }
  bool simulated() const { return simulated_; }      ///< takes PTX
  const std::string& name() const { return name_; }  ///< "cuda:0"
  const DeviceProperties& properties() const { return properties_; }
  /// The Target for kernels on this device.
  const Target& target() const { return target_; }
  StreamHandle stream() const { return stream_; }
  DeviceAllocator& allocator() { return allocator_; }

  /// Launches `blocks` blocks of a kernel on the stream. The parameters are 8 bytes each: addresses, then numbers. With
  /// SINTER_CHECK=1 it waits for completion, so a fault names this kernel.
  void launch(const DeviceKernel& kernel, int64_t blocks, std::span<const uint64_t> parameters);

  /// Waits for all work on the stream. Kernel faults surface here.
  void synchronize();

  /// Returns as soon as `from` may be modified.
  void copy_to_device(DevicePointer to, const void* from, size_t bytes);
  /// Waits for all earlier work on the stream and for the copy.
  void copy_to_host(void* to, DevicePointer from, size_t bytes);
  /// Copies between non-overlapping memory of this device, on the stream.
  void copy(DevicePointer to, DevicePointer from, size_t bytes);
  /// Copies from another device's memory, ordered on both streams.
  void copy_from(Context& other, DevicePointer to, DevicePointer from, size_t bytes);
  /// Sets every byte to `value`, on the stream.
  void fill(DevicePointer memory, unsigned char value, size_t bytes);

  /// Makes this the calling thread's current context. Throws the BackendError of a lost context.
  void enter();
  /// Call before destroying handles: enters the context and waits for work that may use them. A lost context has
  /// nothing to wait for. Returns false in a forked child, which must leave the handles alone.
  bool wait_before_destroy() noexcept;
  /// Throws a BackendError that says what failed, unless `code` is Success. A kernel fault loses the context.
  void check(CudaResult code, std::string_view what) {
    if (code != CudaResult::Success) fail(code, what);
  }
  /// Throws BackendError if a launch cannot have this many blocks.
  void check_blocks(const DeviceKernel& kernel, int64_t blocks) const;
  /// Records what is on the stream, so a fault can name it.
  void note_launch(std::shared_ptr<const std::string> kernel);
  /// True if nothing in the context can be used or freed any more.
  bool lost() const { return lost_.load() != nullptr || in_forked_child(); }

 private:
  [[noreturn]] void fail(CudaResult code, std::string_view what);
  std::string suspects();
  uint64_t launches();
  void forget_launches(uint64_t ended);
  /// Lets this device read the other's memory directly, if the machine supports it.
  void enable_peer_access(Context& other);

  const DriverApi& driver_;
  const int index_;
  const bool simulated_;
  const std::string name_;
  DeviceNumber device_ = 0;
  ContextHandle handle_ = nullptr;
  StreamHandle stream_ = nullptr;
  EventHandle marker_ = nullptr;  ///< other streams wait for it
  DeviceProperties properties_;
  Target target_;
  std::atomic<const std::string*> lost_{nullptr};  ///< the error that every call reports from now on
  std::mutex mutex_;
  std::deque<std::shared_ptr<const std::string>> launched_;  ///< names of the latest launches since the last wait
  uint64_t launches_ = 0;                                    ///< number of launches since then
  std::set<int> peers_;                                      ///< devices for which peer access was already tried
  DeviceAllocator allocator_;
  PinnedStaging staging_;
};

/// The error message for a missing device: how many there are, and which to use.
std::string no_such_device(int index, int devices);

/// Whether any device is in use. Takes no lock.
bool in_use();
/// The devices in use, in order. Takes no lock if there are none.
std::vector<std::shared_ptr<Context>> contexts();

/// Stops using all devices, for tests that inject another driver. Nothing may be alive on them.
void forget_devices();

}  // namespace sinter::runtime::cuda

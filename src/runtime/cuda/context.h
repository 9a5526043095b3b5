// One GPU: its context, one stream on which everything happens in order, its memory, and what becomes of errors that
// turn up later than the call that caused them.
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

/// What the driver says of a device. Sizes are bytes.
struct DeviceProperties {
  std::string name;
  Uuid uuid = {};
  int sm = 0;  ///< compute capability, 90 for 9.0
  int multiprocessors = 0;
  int warp = 0;                        ///< threads
  int threads_per_block = 0;           ///< at most
  int threads_per_multiprocessor = 0;  ///< at most
  int registers_per_multiprocessor = 0;
  int64_t memory = 0;
  int64_t l2 = 0;
  int64_t shared_per_block = 0;  ///< at most, for kernels that ask for it
  int64_t shared_per_multiprocessor = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int bus_bits = 0;  ///< of the memory
};

/// A device in use. All work is put on one stream, in the order of the calls, and only what hands numbers to the host
/// waits. A fault of a kernel loses the context for good: the call that meets it, and every later one, throws a
/// BackendError that says so and names the kernel. Everything is safe from several threads.
class Context : public std::enable_shared_from_this<Context> {
 public:
  /// The device of that number, its context made at the first call. Throws BackendError with the reason if there is no
  /// CUDA here, UsageError with the number of devices for an index that does not exist.
  static std::shared_ptr<Context> get(int index);

  Context(const DriverApi& driver, int index, bool simulated);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DriverApi& driver() const { return driver_; }
  int index() const { return index_; }
  bool simulated() const { return simulated_; }      ///< it takes PTX
  const std::string& name() const { return name_; }  ///< "cuda:0"
  const DeviceProperties& properties() const { return properties_; }
  /// What kernels are written for.
  const Target& target() const { return target_; }
  StreamHandle stream() const { return stream_; }
  DeviceAllocator& allocator() { return allocator_; }

  /// Puts `blocks` blocks of a kernel on the stream. The parameters are 8 bytes each: addresses, then numbers. With
  /// SINTER_CHECK=1 it waits for the end, so that a fault names this kernel.
  void launch(const DeviceKernel& kernel, int64_t blocks, std::span<const uint64_t> parameters);

  /// Waits for everything on the stream; where faults of kernels turn up.
  void synchronize();

  /// Returns as soon as `from` may change.
  void copy_to_device(DevicePointer to, const void* from, size_t bytes);
  /// Waits for what was put on the stream before, and for the copy.
  void copy_to_host(void* to, DevicePointer from, size_t bytes);
  /// Between places of this device that do not overlap; on the stream.
  void copy(DevicePointer to, DevicePointer from, size_t bytes);
  /// From memory of another device, ordered on both streams.
  void copy_from(Context& other, DevicePointer to, DevicePointer from, size_t bytes);
  /// Every byte; on the stream.
  void fill(DevicePointer memory, unsigned char value, size_t bytes);

  /// Makes the context that of the calling thread. Throws the BackendError of a lost one.
  void enter();
  /// Before handles are destroyed: enters, and waits for what may use them; of a lost context there is nothing to wait
  /// for. False in a forked child, which must leave them alone.
  bool wait_before_destroy() noexcept;
  /// Throws a BackendError that says what failed, if it did; the fault of a kernel loses the context.
  void check(CudaResult code, std::string_view what) {
    if (code != CudaResult::Success) fail(code, what);
  }
  /// Throws BackendError if no launch can have so many.
  void check_blocks(const DeviceKernel& kernel, int64_t blocks) const;
  /// Remembers what is on the stream, so that a fault can name it.
  void note_launch(std::shared_ptr<const std::string> kernel);
  /// Nothing on it can be used or freed any more.
  bool lost() const { return lost_.load() != nullptr || in_forked_child(); }

 private:
  [[noreturn]] void fail(CudaResult code, std::string_view what);
  std::string suspects();
  uint64_t launches();
  void forget_launches(uint64_t ended);
  /// Lets this device read the other one's memory itself, where the machine can.
  void enable_peer_access(Context& other);

  const DriverApi& driver_;
  const int index_;
  const bool simulated_;
  const std::string name_;
  DeviceNumber device_ = 0;
  ContextHandle handle_ = nullptr;
  StreamHandle stream_ = nullptr;
  EventHandle marker_ = nullptr;  ///< for other streams to wait for
  DeviceProperties properties_;
  Target target_;
  std::atomic<const std::string*> lost_{nullptr};  ///< what every call says from now on
  std::mutex mutex_;
  std::deque<std::shared_ptr<const std::string>> launched_;  ///< since the last wait, the latest ones
  uint64_t launches_ = 0;                                    ///< since then
  std::set<int> peers_;                                      ///< devices that this one has met
  DeviceAllocator allocator_;
  PinnedStaging staging_;
};

/// Says that there is no device of that number, how many there are, and which to use.
std::string no_such_device(int index, int devices);

/// One is. Takes no lock.
bool in_use();
/// The devices in use, in order. Takes no lock before one is.
std::vector<std::shared_ptr<Context>> contexts();

/// Ends the use of all devices, for tests that inject another driver. Nothing may live on them any more.
void forget_devices();

}  // namespace sinter::runtime::cuda

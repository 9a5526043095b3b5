// Contexts by index, launches and copies on their streams, and faults that lose a context.
#include "runtime/cuda/context.h"

#include <fmt/core.h>

#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "runtime/base/env.h"
#include "runtime/cuda/simulator.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

constexpr size_t kMaxNamedLaunches = 8;  ///< launches named in the message of a fault, at most

/// Whether the code reports a kernel fault, after which nothing works in the context.
bool is_fault(CudaResult code) {
  switch (code) {
    case CudaResult::EccUncorrectable:
    case CudaResult::IllegalAddress:
    case CudaResult::LaunchTimeout:
    case CudaResult::ContextIsDestroyed:
    case CudaResult::Assert:
    case CudaResult::HardwareStackError:
    case CudaResult::IllegalInstruction:
    case CudaResult::MisalignedAddress:
    case CudaResult::InvalidAddressSpace:
    case CudaResult::InvalidPc:
    case CudaResult::LaunchFailed:
    case CudaResult::Unknown: return true;
    default: return false;
  }
}

struct Contexts {
  std::mutex mutex;
  std::map<std::pair<const DriverApi*, int>, std::shared_ptr<Context>> all;
  std::atomic<bool> any{false};
  static Contexts& get() {
    static auto* contexts = new Contexts;  // never destroyed: buffers in static objects are freed after main
    return *contexts;
  }
};

}  // namespace

double DeviceProperties::flops() const { return 2e3 * clock_khz * multiprocessors * (sm == 80 ? 64 : 128); }
double DeviceProperties::tensor_flops() const {
  // Multiply-adds a clock of a multiprocessor: NVIDIA's data sheets of A100 and H100.
  const int each = sm >= 90 && sm < 100 ? 2048 : sm == 80 ? 1024 : 0;
  return 2e3 * clock_khz * multiprocessors * each;
}
double DeviceProperties::bandwidth() const {
  return 2e3 * memory_clock_khz * bus_bits / 8;  // double data rate: two transfers per clock
}

std::string no_such_device(int index, int devices) {
  return devices == 1 ? fmt::format("there is no device cuda:{}, this machine has one: use cuda:0", index)
                      : fmt::format("there is no device cuda:{}, this machine has {}: use one of cuda:0 to cuda:{}",
                                    index, devices, devices - 1);
}

std::shared_ptr<Context> Context::get(int index) {
  const DriverLibrary& found = find_driver();
  if (!found.table) throw BackendError(fmt::format("cuda:{} cannot be used: {}", index, found.reason));
  if (index < 0 || index >= found.devices) throw UsageError(no_such_device(index, found.devices));
  Contexts& c = Contexts::get();
  std::lock_guard lock(c.mutex);
  std::shared_ptr<Context>& context = c.all[{found.table, index}];
  if (!context) context = std::make_shared<Context>(*found.table, index, found.simulated);
  c.any = true;
  return context;
}

bool in_use() { return Contexts::get().any && !in_forked_child(); }

std::vector<std::shared_ptr<Context>> contexts() {
  std::vector<std::shared_ptr<Context>> out;
  if (!in_use()) return out;
  Contexts& c = Contexts::get();
  std::lock_guard lock(c.mutex);
  for (const auto& [key, context] : c.all)
    if (context) out.push_back(context);
  return out;
}

void forget_devices() {
  decltype(Contexts::all) dropped;
  std::lock_guard lock(Contexts::get().mutex);
  dropped.swap(Contexts::get().all);
}

Context::Context(const DriverApi& driver, int index, bool simulated)
    : driver_(driver),
      index_(index),
      simulated_(simulated),
      name_(fmt::format("cuda:{}", index)),
      allocator_(*this),
      staging_(*this) {
  check(driver.device_get(&device_, index), "opening the device");
  const auto number = [&](DeviceAttribute attribute) {
    int value = 0;
    check(driver.device_get_attribute(&value, attribute, device_), "asking for a property");
    return value;
  };
  char text[256] = {};
  size_t memory = 0;
  check(driver.device_get_name(text, sizeof text - 1, device_), "asking for its name");
  check(driver.device_total_mem(&memory, device_), "asking for its memory");
  DeviceProperties& p = properties_;
  check(driver.device_get_uuid(&p.uuid, device_), "asking for its number");
  p.name = text;
  p.sm = 10 * number(DeviceAttribute::ComputeCapabilityMajor) + number(DeviceAttribute::ComputeCapabilityMinor);
  p.multiprocessors = number(DeviceAttribute::MultiprocessorCount);
  p.warp = number(DeviceAttribute::WarpSize);
  p.threads_per_block = number(DeviceAttribute::MaxThreadsPerBlock);
  p.threads_per_multiprocessor = number(DeviceAttribute::MaxThreadsPerMultiprocessor);
  p.registers_per_multiprocessor = number(DeviceAttribute::MaxRegistersPerMultiprocessor);
  p.memory = static_cast<int64_t>(memory);
  p.l2 = number(DeviceAttribute::L2CacheSize);
  p.shared_per_block = number(DeviceAttribute::MaxSharedMemoryPerBlockOptin);
  p.shared_per_multiprocessor = number(DeviceAttribute::MaxSharedMemoryPerMultiprocessor);
  p.clock_khz = number(DeviceAttribute::ClockRate);
  p.memory_clock_khz = number(DeviceAttribute::MemoryClockRate);
  p.bus_bits = number(DeviceAttribute::GlobalMemoryBusWidth);
  target_ = cuda_target({p.sm, p.multiprocessors, p.shared_per_block, p.l2});

  check(driver.device_primary_ctx_retain(&handle_, device_), "making its context");
  try {
    enter();
    check(driver.stream_create(&stream_, kStreamNonBlocking), "making its stream");
    check(driver.event_create(&marker_, kEventDisableTiming), "making an event");
  } catch (...) {
    driver.device_primary_ctx_release(device_);
    throw;
  }
}

Context::~Context() {
  if (!wait_before_destroy()) return;
  // In a lost context all of these calls fail except the last, which makes the device usable again.
  staging_.release();
  allocator_.abandon();
  driver_.event_destroy(marker_);
  driver_.stream_destroy(stream_);
  driver_.device_primary_ctx_release(device_);
  delete lost_.load();
}

bool Context::wait_before_destroy() noexcept {
  if (in_forked_child()) return false;
  driver_.ctx_set_current(handle_);
  driver_.stream_synchronize(stream_);
  return true;
}

void Context::enter() {
  if (in_forked_child()) throw BackendError(fmt::format("{} cannot be used: {}", name_, find_driver().reason));
  if (const std::string* text = lost_) throw BackendError(*text);
  check(driver_.ctx_set_current(handle_), "entering the context");
}

void Context::fail(CudaResult code, std::string_view what) {
  std::string text = fmt::format("{}: {} failed: {}", name_, what, describe(driver_, code));
  if (is_fault(code)) {
    const std::string seen = sim::last_fault_of(driver_);
    text += seen.empty() ? suspects() : ", " + seen;
    const auto* later = new std::string(fmt::format(
        "{} cannot be used any more, its context is lost and what it held with it; start the program anew. It began "
        "with: {}",
        name_, text));
    const std::string* none = nullptr;
    if (!lost_.compare_exchange_strong(none, later)) delete later;
    text += "; the context of the device is lost, and what it held with it: start the program anew";
  }
  if (code == CudaResult::OutOfMemory) throw OutOfMemory(text);
  throw BackendError(text);
}

std::string Context::suspects() {
  std::lock_guard lock(mutex_);
  if (launched_.empty()) return "";
  if (launches_ == 1) return fmt::format(", in kernel {}", *launched_.front());
  std::string names;
  for (const auto& name : launched_) names += fmt::format("{}{}", names.empty() ? "" : ", ", *name);
  return fmt::format(
      ", in one of the {} launches since the last wait{}: {} (SINTER_CHECK=1 waits for each, and names the one)",
      launches_, launches_ > launched_.size() ? ", of which the latest are" : "", names);
}

void Context::note_launch(std::shared_ptr<const std::string> kernel) {
  std::lock_guard lock(mutex_);
  ++launches_;
  launched_.push_back(std::move(kernel));
  if (launched_.size() > kMaxNamedLaunches) launched_.pop_front();
}

uint64_t Context::launches() {
  std::lock_guard lock(mutex_);
  return launches_;
}

void Context::forget_launches(uint64_t ended) {
  std::lock_guard lock(mutex_);
  if (launches_ != ended) return;  // more launches came meanwhile
  launches_ = 0;
  launched_.clear();
}

void Context::launch(const DeviceKernel& kernel, int64_t blocks, std::span<const uint64_t> parameters) {
  if (blocks <= 0) return;
  enter();
  check_blocks(kernel, blocks);
  std::vector<void*> pointers;
  for (const uint64_t& p : parameters) pointers.push_back(const_cast<uint64_t*>(&p));
  const CudaResult code = driver_.launch_kernel(kernel.function, static_cast<unsigned>(blocks), 1, 1, kernel.threads, 1,
                                                1, kernel.shared, stream_, pointers.data(), nullptr);
  if (code != CudaResult::Success)
    fail(code, fmt::format("launching kernel {} ({} blocks of {} threads, {} registers, {} bytes of shared memory)",
                           *kernel.name, blocks, kernel.threads, kernel.registers,
                           kernel.shared + static_cast<unsigned>(kernel.static_shared)));
  note_launch(kernel.name);
  if (!env().check) return;
  synchronize();
  allocator_.release();
}

void Context::check_blocks(const DeviceKernel& kernel, int64_t blocks) const {
  if (blocks <= std::numeric_limits<int>::max()) return;
  throw BackendError(fmt::format("{}: kernel {} of {} blocks: a launch has at most {}; compute the value in parts",
                                 name_, *kernel.name, blocks, std::numeric_limits<int>::max()));
}

void Context::synchronize() {
  enter();
  const uint64_t before = launches();
  check(driver_.stream_synchronize(stream_), "waiting for the device");
  forget_launches(before);
}

void Context::copy_to_device(DevicePointer to, const void* from, size_t bytes) {
  enter();
  staging_.to_device(to, from, bytes);
}

void Context::copy_to_host(void* to, DevicePointer from, size_t bytes) {
  enter();
  const uint64_t before = launches();
  staging_.to_host(to, from, bytes);
  if (bytes) forget_launches(before);
}

void Context::copy(DevicePointer to, DevicePointer from, size_t bytes) {
  if (!bytes) return;
  enter();
  check(driver_.memcpy_dtod_async(to, from, bytes, stream_), "copying");
}

void Context::copy_from(Context& other, DevicePointer to, DevicePointer from, size_t bytes) {
  if (&other == this) return copy(to, from, bytes);
  if (!bytes) return;
  other.enter();
  other.check(driver_.event_record(other.marker_, other.stream_), "recording an event");
  enter();
  enable_peer_access(other);
  check(driver_.stream_wait_event(stream_, other.marker_, 0), "waiting for the other device");
  check(driver_.memcpy_peer_async(to, handle_, from, other.handle_, bytes, stream_), "copying from the other device");
  check(driver_.event_record(marker_, stream_), "recording an event");
  other.enter();
  other.check(driver_.stream_wait_event(other.stream_, marker_, 0), "waiting for the other device");
}

void Context::enable_peer_access(Context& other) {
  {
    std::lock_guard lock(mutex_);  // not held below: error reporting takes it
    if (!peers_.insert(other.index_).second) return;
  }
  int can = 0;
  if (driver_.device_can_access_peer(&can, device_, other.device_) != CudaResult::Success || !can) return;
  const CudaResult code = driver_.ctx_enable_peer_access(other.handle_, 0);
  if (code != CudaResult::PeerAccessAlreadyEnabled) check(code, "opening the other device's memory");
}

void Context::fill(DevicePointer memory, unsigned char value, size_t bytes) {
  if (!bytes) return;
  enter();
  check(driver_.memset_d8_async(memory, value, bytes, stream_), "filling memory");
}

}  // namespace sinter::runtime::cuda

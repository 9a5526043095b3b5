// The public view of GPUs.
#include "sinter/cuda.h"

#include <fmt/core.h>

#include "runtime/cuda/compile_cuda.h"
#include "runtime/cuda/context.h"
#include "runtime/program/toolchain.h"
#include "sinter/error.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::cuda {
namespace {

using namespace tensor;

namespace device = runtime::cuda;

std::shared_ptr<device::Context> context(const char* call, int index, Loc where) {
  const device::DriverLibrary& found = device::find_driver();
  if (found.table && (index < 0 || index >= found.devices))
    usage_error_at(where, "cuda::{}: {}", call, device::no_such_device(index, found.devices));
  return device::Context::get(index);
}

/// In the format of nvidia-smi.
std::string text_of(const device::Uuid& uuid) {
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i)
    text += fmt::format("{}{:02x}", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
  return text;
}

}  // namespace

bool is_available() { return unavailable_reason().empty(); }

std::string unavailable_reason() {
  const device::DriverLibrary& found = device::find_driver();
  if (!found.table) return found.reason;
  std::string reason = device::compiler_of(found).reason;
  if (!reason.empty()) try {
      device::toolchain(device::Context::get(0)->target());
      return "";  // the cache folder holds kernels for this GPU
    } catch (const BackendError&) { return reason; }
  return reason;
}

int device_count() { return device::find_driver().devices; }

Properties properties(int index, Loc where) {
  const auto gpu = context("properties", index, where);
  const device::DeviceProperties& p = gpu->properties();
  Properties out;
  out.name = p.name;
  out.uuid = text_of(p.uuid);
  out.compute_capability = p.sm;
  out.multiprocessors = p.multiprocessors;
  out.threads_per_block = p.threads_per_block;
  out.memory = static_cast<uint64_t>(p.memory);
  out.l2_cache = static_cast<uint64_t>(p.l2);
  out.shared_memory_per_block = static_cast<uint64_t>(p.shared_per_block);
  out.memory_bandwidth = p.bandwidth();
  out.compiler = device::compiler_of(device::find_driver()).name;
  return out;
}

MemoryStats memory_stats(int index, Loc where) {
  const device::DeviceMemoryStats s = context("memory_stats", index, where)->allocator().stats();
  return {s.live, s.peak, s.cached, s.limit, s.total};
}

void synchronize(int index, Loc where) { context("synchronize", index, where)->synchronize(); }
void release_pool(int index, Loc where) { context("release_pool", index, where)->allocator().release(); }

}  // namespace sinter::inline v0::cuda

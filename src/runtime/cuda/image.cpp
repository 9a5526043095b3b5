// Images -> modules -> functions, per device.
#include "runtime/cuda/image.h"

#include <fmt/core.h>

#include <cstdlib>
#include <cstring>

#include "runtime/base/kernel_source.h"
#include "runtime/cuda/context.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

constexpr unsigned kSharedByDefault = 48 << 10;  ///< more dynamic shared memory requires an explicit opt-in

}  // namespace

Image::Image(const KernelSource& kernel, std::string bytes)
    : name_(kernel.name),
      bytes_(std::move(bytes)),
      has_epilogue_(kernel.has_epilogue),
      takes_tickets_(kernel.takes_tickets),
      epilogue_blocks_(kernel.epilogue_blocks),
      threads_(static_cast<unsigned>(kernel.threads)),
      epilogue_threads_(static_cast<unsigned>(kernel.epilogue_threads)),
      shared_(static_cast<unsigned>(kernel.shared)) {}

Image::~Image() {
  for (const auto& l : loaded_) {
    const auto context = l->context.lock();
    if (context && context->wait_before_destroy()) context->driver().module_unload(l->module);
  }
}

const LoadedKernel& Image::load_on(Context& context) const {
  std::lock_guard lock(mutex_);
  for (const auto& l : loaded_)
    if (l->context.lock().get() == &context) return l->kernel;
  context.enter();
  char log[4096] = {};
  JitOption options[] = {JitOption::ErrorLogBuffer, JitOption::ErrorLogBufferSizeBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  ModuleHandle module = nullptr;
  if (const CudaResult code = context.driver().module_load_data_ex(&module, bytes_.c_str(), 2, options, values);
      code != CudaResult::Success) {
    log[sizeof log - 1] = 0;
    context.check(code, fmt::format("loading kernel {}{}{}", name_, *log ? "\n" : "", log));
  }
  try {
    auto made = std::make_unique<LoadedModule>(
        LoadedModule{context.weak_from_this(),
                     module,
                     {function(context, module, name_, threads_), nullptr, epilogue_blocks_, takes_tickets_}});
    if (has_epilogue_)
      made->kernel.epilogue =
          std::make_unique<DeviceKernel>(function(context, module, name_ + "_finish", epilogue_threads_));
    return loaded_.emplace_back(std::move(made))->kernel;
  } catch (...) {
    context.driver().module_unload(module);
    throw;
  }
}

DeviceKernel Image::function(Context& context, ModuleHandle module, const std::string& name, unsigned threads) const {
  const DriverApi& driver = context.driver();
  DeviceKernel k{.name = std::make_shared<const std::string>(name), .threads = threads, .shared = shared_};
  context.check(driver.module_get_function(&k.function, module, name.c_str()),
                fmt::format("looking for kernel {} in its code", name));
  const auto number = [&](FunctionAttribute attribute) {
    int value = 0;
    context.check(driver.func_get_attribute(&value, attribute, k.function), "asking about a kernel");
    return value;
  };
  k.static_shared = number(FunctionAttribute::SharedSizeBytes);
  k.registers = number(FunctionAttribute::NumRegs);
  k.local = number(FunctionAttribute::LocalSizeBytes);
  const int64_t needed = int64_t{k.static_shared} + shared_, most = context.properties().shared_per_block;
  if (needed > most)
    throw BackendError(fmt::format("kernel {} needs {} bytes of shared memory for a block, and {} ({}) has {}", name,
                                   needed, context.name(), context.properties().name, most));
  if (const int able = number(FunctionAttribute::MaxThreadsPerBlock); static_cast<int>(threads) > able)
    throw BackendError(fmt::format("kernel {} needs blocks of {} threads, and with its {} registers {} ({}) can run {}",
                                   name, threads, k.registers, context.name(), context.properties().name, able));
  if (shared_ > kSharedByDefault)
    context.check(
        driver.func_set_attribute(k.function, FunctionAttribute::MaxDynamicSharedSizeBytes, static_cast<int>(shared_)),
        "asking for shared memory");
  return k;
}

bool runs_on_sm(const std::string& image, int sm) {
  struct Head {  // the needed part of an ELF header
    unsigned char magic[4], width, order, version, system, abi, padding[7];
    uint16_t type, machine;
    uint32_t file_version;
    uint64_t entry, programs, sections;
    uint32_t flags;
  } head;
  constexpr uint16_t kCuda = 190;
  if (image.size() < sizeof head) return false;
  std::memcpy(&head, image.data(), sizeof head);
  int arch = 0;
  if (std::memcmp(head.magic, "\177ELF", 4) == 0) {
    // CUDA 13 moved the number, and identifies that as version 8 of the format.
    if (head.machine == kCuda) arch = static_cast<int>((head.abi >= 8 ? head.flags >> 8 : head.flags) & 0xff);
  } else if (const size_t at = image.find(".target sm_"); at != std::string::npos) {
    arch = std::atoi(image.c_str() + at + 11);
  }
  return arch <= sm && arch / 10 == sm / 10;
}

}  // namespace sinter::runtime::cuda

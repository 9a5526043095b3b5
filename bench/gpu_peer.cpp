// The library, opened at run time, and memory of the device for what its calls work on.
#include "gpu_peer.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "ir/short_float.h"

namespace bench {

namespace gpu = sinter::runtime::cuda;
using sinter::DType;

void* open_library(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* library = dlopen(name, RTLD_NOW)) return library;
  throw std::invalid_argument("unknown case");
}

void* find_function(void* library, const char* name) {
  void* function = dlsym(library, name);
  if (!function) throw std::runtime_error(std::string("the library has no ") + name);
  return function;
}

void check(int status, const char* call) {
  if (status) throw std::runtime_error(std::string(call) + " returned " + std::to_string(status));
}

DeviceFloats::DeviceFloats(std::shared_ptr<gpu::Context> device, size_t count, DType type)
    : context(std::move(device)), count(count), type(type), memory(context->allocator().allocate(bytes())) {}
DeviceFloats::~DeviceFloats() { context->allocator().deallocate(memory, bytes()); }

std::shared_ptr<DeviceFloats> input(const std::shared_ptr<gpu::Context>& device, size_t count, uint32_t seed,
                                    DType type) {
  auto made = std::make_shared<DeviceFloats>(device, count, type);
  const Floats numbers = uniform(count, seed);
  if (type == sinter::float32) {
    device->copy_to_device(made->memory, numbers.data(), made->bytes());
  } else {
    std::vector<uint16_t> bits(count);
    for (size_t i = 0; i < count; ++i) bits[i] = sinter::ir::short_float_bits(type, numbers[i]);
    device->copy_to_device(made->memory, bits.data(), made->bytes());
  }
  return made;
}

namespace {

/// What lies there, on the host.
std::vector<float> read(const DeviceFloats& floats) {
  std::vector<float> values(floats.count);
  if (floats.type == sinter::float32) {
    floats.context->copy_to_host(values.data(), floats.memory, floats.bytes());
  } else {
    std::vector<uint16_t> bits(floats.count);
    floats.context->copy_to_host(bits.data(), floats.memory, floats.bytes());
    for (size_t i = 0; i < bits.size(); ++i)
      values[i] = static_cast<float>(sinter::ir::short_float_value(floats.type, bits[i]));
  }
  return values;
}

}  // namespace

BenchCase evaluate(std::function<void()> enqueue, std::shared_ptr<DeviceFloats> result) {
  const auto run = [=] {
    enqueue();
    result->context->synchronize();
  };
  return {.run = run, .check = [=] {
            run();
            return fingerprint(read(*result));
          }};
}

}  // namespace bench

// The library, opened at run time, and memory of the device for what its calls work on.
#include "gpu_peer.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace bench {

namespace gpu = sinter::runtime::cuda;

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

DeviceFloats::DeviceFloats(std::shared_ptr<gpu::Context> device, size_t count)
    : context(std::move(device)), count(count), memory(context->allocator().allocate(bytes())) {}
DeviceFloats::~DeviceFloats() { context->allocator().deallocate(memory, bytes()); }

std::shared_ptr<DeviceFloats> input(const std::shared_ptr<gpu::Context>& device, size_t count, uint32_t seed) {
  auto made = std::make_shared<DeviceFloats>(device, count);
  device->copy_to_device(made->memory, uniform(count, seed).data(), made->bytes());
  return made;
}

BenchCase evaluate(std::function<void()> enqueue, std::shared_ptr<DeviceFloats> result) {
  const auto run = [=] {
    enqueue();
    result->context->synchronize();
  };
  return {.run = run, .check = [=] {
            run();
            std::vector<float> values(result->count);
            result->context->copy_to_host(values.data(), result->memory, result->bytes());
            return fingerprint(values);
          }};
}

}  // namespace bench

// What workers of NVIDIA's libraries share: the library is opened at run time, so that they build everywhere; where it
// is missing no case is known. Memory and stream are those of Sinter's device.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "runtime/cuda/context.h"
#include "sinter/dtype.h"
#include "worker.h"

namespace bench {

/// The first of these libraries that can be opened. Throws std::invalid_argument ("unknown case") if there is none.
void* open_library(std::initializer_list<const char*> names);

/// A function of it. Throws std::runtime_error if it has none of that name.
void* find_function(void* library, const char* name);
template <class F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(find_function(library, name));
}

/// Throws std::runtime_error for a status that is not 0.
void check(int status, const char* call);

/// Floats on the device, of 32 or 16 bits.
struct DeviceFloats {
  DeviceFloats(std::shared_ptr<sinter::runtime::cuda::Context> device, size_t count,
               sinter::DType type = sinter::float32);
  ~DeviceFloats();
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;
  size_t bytes() const { return count * sinter::size_of(type); }

  std::shared_ptr<sinter::runtime::cuda::Context> context;
  size_t count;
  sinter::DType type;
  sinter::runtime::cuda::DevicePointer memory;
};

/// uniform() on the device, rounded to the type.
std::shared_ptr<DeviceFloats> input(const std::shared_ptr<sinter::runtime::cuda::Context>& device, size_t count,
                                    uint32_t seed, sinter::DType type = sinter::float32);

/// A case that enqueues its work and leaves it in `result`.
BenchCase evaluate(std::function<void()> enqueue, std::shared_ptr<DeviceFloats> result);

}  // namespace bench

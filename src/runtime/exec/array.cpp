// Element access of host values.
#include "runtime/exec/array.h"

#include <fmt/core.h>

#include <cstring>

#include "ir/scalar_eval.h"
#include "sinter/error.h"

namespace sinter::runtime {

int64_t count_of(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

Array::Array() = default;
Array::Array(const Array& other) = default;
Array::Array(Array&& other) noexcept = default;
Array& Array::operator=(const Array& other) = default;
Array& Array::operator=(Array&& other) noexcept = default;
Array::~Array() = default;

Array::Array(DType dtype, std::vector<int64_t> shape) : dtype(dtype), shape(std::move(shape)) {
  data.resize(static_cast<size_t>(numel()) * size_of(dtype));
}

Array Array::from_memory(DType dtype, std::vector<int64_t> shape, std::span<const std::byte> bytes) {
  Array a;
  a.dtype = dtype;
  a.shape = std::move(shape);
  a.data.assign(bytes.begin(), bytes.end());
  if (a.data.size() != static_cast<size_t>(a.numel()) * size_of(dtype))
    throw InternalError(
        fmt::format("array of {} elements of {} from {} bytes", a.numel(), name_of(dtype), bytes.size()));
  return a;
}

Array Array::read(DType dtype, std::vector<int64_t> shape, const Buffer& buffer) {
  Array a(dtype, std::move(shape));
  if (a.data.size() != buffer.bytes())
    throw InternalError(
        fmt::format("array of {} elements of {} from {} bytes", a.numel(), name_of(dtype), buffer.bytes()));
  buffer.read(a.data.data());
  return a;
}

int64_t Array::numel() const { return count_of(shape); }
ir::Scalar Array::at(int64_t position) const {
  return load_scalar(dtype, data.data() + static_cast<size_t>(position) * size_of(dtype));
}
void Array::set(int64_t position, ir::Scalar value) {
  store_scalar(dtype, data.data() + static_cast<size_t>(position) * size_of(dtype), value);
}
void Array::require_size(size_t bytes) const {
  if (bytes != size_of(dtype))
    throw InternalError(fmt::format("array of {} read as elements of {} bytes", name_of(dtype), bytes));
}

ir::Scalar load_scalar(DType dtype, const std::byte* address) {
  uint64_t bits = 0;
  std::memcpy(&bits, address, size_of(dtype));
  return ir::from_bits(dtype, bits);
}
void store_scalar(DType dtype, std::byte* address, ir::Scalar value) {
  const uint64_t bits = ir::to_bits(dtype, value);
  std::memcpy(address, &bits, size_of(dtype));
}

}  // namespace sinter::runtime

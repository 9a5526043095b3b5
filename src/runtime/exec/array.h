// A value in host memory: what the interpreter computes with and tests compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/attr.h"
#include "runtime/cpu/host_allocator.h"
#include "runtime/exec/buffer.h"
#include "sinter/dtype.h"

namespace sinter::runtime {

/// Allocates from the CPU's pool and respects its limit: throws OutOfMemory where std::allocator throws bad_alloc.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}  // NOLINT
  T* allocate(size_t n) { return static_cast<T*>(cpu::allocate(n * sizeof(T))); }
  void deallocate(T* p, size_t n) noexcept { cpu::deallocate(p, n * sizeof(T)); }
  friend bool operator==(PoolAllocator, PoolAllocator) { return true; }
};
template <class T>
using PoolVector = std::vector<T, PoolAllocator<T>>;

/// Numbers of one dtype in row-major order.
struct Array {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  PoolVector<std::byte> data;

  Array();
  /// Zeros.
  Array(DType dtype, std::vector<int64_t> shape);
  // Not inline: a vector with a custom allocator copies byte by byte in unoptimized builds.
  Array(const Array& other);
  Array(Array&& other) noexcept;
  Array& operator=(const Array& other);
  Array& operator=(Array&& other) noexcept;
  ~Array();
  template <class T>
  static Array of(std::vector<int64_t> shape, std::span<const T> values) {
    return from_memory(dtype_of<T>::value, std::move(shape), std::as_bytes(values));
  }
  /// Copies `bytes`. Throws InternalError if their number does not match the shape.
  static Array from_memory(DType dtype, std::vector<int64_t> shape, std::span<const std::byte> bytes);

  /// Copies a whole buffer from any device. Waits for pending writes to it.
  static Array read(DType dtype, std::vector<int64_t> shape, const Buffer& buffer);

  int64_t numel() const;
  /// The element at a row-major position, which is not checked.
  ir::Scalar at(int64_t position) const;
  void set(int64_t position, ir::Scalar value);
  /// The elements as C++ numbers (bool: uint8_t, Index: int64_t). Throws InternalError if T has a different size.
  template <class T>
  std::span<const T> as() const {
    require_size(sizeof(T));
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> as() {
    require_size(sizeof(T));
    return {reinterpret_cast<T*>(data.data()), data.size() / sizeof(T)};
  }

 private:
  void require_size(size_t bytes) const;
};

/// Loads or stores one element. The 8-bit floats are not supported: InternalError.
ir::Scalar load_scalar(DType dtype, const std::byte* address);
void store_scalar(DType dtype, std::byte* address, ir::Scalar value);

/// Number of elements of a shape.
int64_t count_of(std::span<const int64_t> shape);

}  // namespace sinter::runtime

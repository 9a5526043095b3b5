// Creating tensors from numbers of the program and from patterns. Random tensors are in random.h.
#pragma once

#include <initializer_list>
#include <vector>

#include "sinter/call.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// A number or a braced list of Nested, of any depth: what `from({{1, 2}, {3, 4}})` takes.
class Nested {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  Nested(T value) : number_(value) {}  ///< a number  NOLINT: implicit by design
  Nested(std::initializer_list<Nested> list) : items_(list), is_list_(true) {}  ///< a list
  bool is_list() const { return is_list_; }                                     ///< not a number
  const std::vector<Nested>& items() const { return items_; }                   ///< of a list
  const Arg& number() const { return number_; }                                 ///< unless it is a list

 private:
  Arg number_ = 0;
  std::vector<Nested> items_;
  bool is_list_ = false;
};

/// @defgroup fromdata Tensors from data
/// The numbers are copied at the call, to `device`. UsageError for a device that does not exist.
/// @snippet creation.cpp data
/// @{

/// `bytes` is the size of `data`, which is row-major. UsageError unless it is what `dtype` and `shape` need.
Tensor from_bytes(const void* data, size_t bytes, DType dtype, const Shape& shape, Device device = default_device(),
                  Loc where = Loc::current());
/// The same; `data` has as many bytes as `dtype` and `shape` need.
Tensor from_bytes(const void* data, DType dtype, const Shape& shape, Device device = default_device(),
                  Loc where = Loc::current());
/// For calls that are given elements, such as the next two: UsageError unless `shape` has `given` elements.
void require_count(size_t given, const Shape& shape);
/// `data` holds as many elements as `shape`, row-major. The dtype is T's. A symbolic size reads its bound number.
template <Element T>
Tensor from(const T* data, const Shape& shape, Device device = default_device(), Loc where = Loc::current()) {
  const CallScope call("from", where);
  return from_bytes(data, dtype_of<T>::value, shape, device, where);
}
/// The same; UsageError unless `data` has as many elements as `shape`.
template <Element T>
Tensor from(const std::vector<T>& data, const Shape& shape, Device device = default_device(),
            Loc where = Loc::current()) {
  const CallScope call("from", where);
  require_count(data.size(), shape);
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(data.begin(), data.end());
    return from_bytes(bytes.data(), bytes.size(), boolean, shape, device, where);
  } else {
    return from_bytes(data.data(), data.size() * sizeof(T), dtype_of<T>::value, shape, device, where);
  }
}
/// A vector: one axis.
template <Element T>
Tensor from(const std::vector<T>& data, Device device = default_device(), Loc where = Loc::current()) {
  return from(data, Shape{data.size()}, device, where);
}
/// Braced numbers: bool, int64 or, if one of them is not an integer, float32; `dtype` overrides. Ragged lists, and
/// numbers that the type cannot hold, are a UsageError.
Tensor from(const Nested& values, DType dtype = DType::Void, Device device = default_device(),
            Loc where = Loc::current());
/// @}

/// @defgroup patterns Tensors of a pattern
/// Constants of the program, without memory. Negative sizes, and a device that does not exist, are a UsageError.
/// @snippet creation.cpp patterns
/// @{

/// 0 everywhere.
Tensor zeros(const Shape& shape, DType dtype = float32, Device device = default_device(), Loc where = Loc::current());
/// 1 everywhere.
Tensor ones(const Shape& shape, DType dtype = float32, Device device = default_device(), Loc where = Loc::current());
/// The number everywhere: int64, bool or float32 by its C++ type; `dtype` overrides. A number that the type cannot hold
/// (1.5 as int32) is a UsageError. A scalar tensor, which must be on `device`, is cast and repeated.
Tensor full(const Shape& shape, Arg value, DType dtype = DType::Void, Device device = default_device());
/// A tensor to be written: its numbers are any, here 0.
Tensor empty(const Shape& shape, DType dtype = float32, Device device = default_device(), Loc where = Loc::current());
Tensor empty_like(Arg x, DType dtype = DType::Void);  ///< as zeros_like
/// Zeros of x's shape and device, and of x's dtype unless one is given.
Tensor zeros_like(Arg x, DType dtype = DType::Void);
Tensor ones_like(Arg x, DType dtype = DType::Void);             ///< as zeros_like
Tensor full_like(Arg x, Arg value, DType dtype = DType::Void);  ///< as zeros_like

/// 0, 1, ... end-1. The size may be symbolic.
Tensor arange(const Dim& end, DType dtype = int64, Device device = default_device(), Loc where = Loc::current());
/// begin, begin + step, ... before end: int64, or float32 if one of them is a float, computed in float64. A step of 0
/// is a UsageError.
Tensor arange(Arg begin, Arg end, Arg step = 1, DType dtype = DType::Void, Device device = default_device());
Tensor arange(Arg begin, Arg end, DType dtype, Device device = default_device());  ///< in steps of 1
/// `count` equally spaced numbers from begin to end, both included; computed in float64.
Tensor linspace(Arg begin, Arg end, int64_t count, DType dtype = float32, Device device = default_device());
/// base to the power of linspace().
Tensor logspace(Arg begin, Arg end, int64_t count, double base = 10, DType dtype = float32,
                Device device = default_device());
/// Ones on the diagonal of a matrix of n rows and m columns (m = -1: n).
Tensor eye(int64_t n, int64_t m = -1, DType dtype = float32, Device device = default_device(),
           Loc where = Loc::current());
/// @}

/// A scalar that is an argument of the launch and not part of the program: with another value the same plan runs again.
/// For numbers that change from step to step, such as learning rates. Never merged with an equal one
/// (docs/semantics.md, N1).
/// @snippet creation.cpp number
Tensor number(Arg value, DType dtype = float32, Device device = default_device());

}  // namespace sinter::inline v0

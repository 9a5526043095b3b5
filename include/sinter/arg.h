// How a call knows its caller: public functions take `Arg`, whose conversion records the caller's file and line.
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <type_traits>

#include "sinter/dtype.h"

namespace sinter::inline v0 {

class Dim;
class Tensor;
class Place;
struct Cell;  // opaque: the shared cell behind a handle

/// The caller's place. Every public call takes it as its last argument and reports it in errors.
using Loc = std::source_location;

/// A tensor, a plain number or a size given to a call, with the caller's position. A C++ number is weak: it takes the
/// dtype of the tensor that it is combined with, unless its kind is higher (a double combined with an integer tensor
/// gives float32). A size is a weak integer.
class Arg {
 public:
  Arg(const Tensor& tensor, Loc where = Loc::current());  ///< the tensor  NOLINT: implicit by design
  Arg(const Place& place, Loc where = Loc::current());    ///< its value  NOLINT
  /// A weak integer: loss / x.size(0). A variable's has its value at each call.
  Arg(const Dim& size, Loc where = Loc::current());  // NOLINT
  /// A weak number.
  template <class T>
    requires std::is_arithmetic_v<T>
  Arg(T value, Loc where = Loc::current())  // NOLINT
      : where_(where),
        kind_(std::is_same_v<T, bool> ? Kind::Bool
              : std::is_integral_v<T> ? Kind::Integer
                                      : Kind::Float) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, long double>)
      number_.real = as_double(value);
    else if constexpr (std::is_floating_point_v<T>)
      number_.real = value;
    else
      number_.integer = static_cast<int64_t>(value);
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(int64_t))
      if (number_.integer < 0) kind_ = Kind::Unsigned;
  }

  /// What was given. Unsigned: an integer above the largest int64, which only uint64 and floats hold. Size: one of a
  /// variable; a fixed size is an Integer.
  enum class Kind : uint8_t { Tensor, Bool, Integer, Unsigned, Float, Size };
  Kind kind() const { return kind_; }  ///< what was given
  /// No number that is known now: a tensor, or a Size, whose cell is a scalar.
  bool is_tensor() const { return kind_ == Kind::Tensor || kind_ == Kind::Size; }
  /// Only of a tensor or a Size.
  const std::shared_ptr<Cell>& cell() const { return cell_; }
  /// Only of a number.
  double real() const {
    return kind_ == Kind::Float      ? number_.real
           : kind_ == Kind::Unsigned ? static_cast<double>(natural())
                                     : static_cast<double>(number_.integer);
  }
  int64_t integer() const { return number_.integer; }                          ///< only of a Bool or an Integer
  uint64_t natural() const { return static_cast<uint64_t>(number_.integer); }  ///< only of an Unsigned
  Loc where() const { return where_; }                                         ///< the caller's place

 private:
  /// Out of line: the caller's thread may treat denormal numbers as zeros.
  static double as_double(float value);
  static double as_double(long double value);

  std::shared_ptr<Cell> cell_;
  Loc where_;
  Kind kind_ = Kind::Tensor;
  union {
    double real;
    int64_t integer;
  } number_ = {.integer = 0};
};

}  // namespace sinter::inline v0

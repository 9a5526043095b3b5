// Sizes: a dimension is a number, or a variable that is bound to a number at the call (SEMANTICS N3).
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/inline_vector.h"

namespace sinter::inline v0 {

class Dim;

/// An integer of any type but bool, or an enumerator that converts to one, such as a name for an axis. A bool is no
/// axis: x.sum(true) means keepdim elsewhere.
template <class I>
concept Integer =
    (std::integral<I> && !std::same_as<I, bool>) || (std::is_enum_v<I> && std::convertible_to<I, int64_t>);
/// The integer as int64. A larger value becomes the largest int64: out of every range, and never negative.
template <Integer I>
constexpr int64_t saturated(I value) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if constexpr (std::is_unsigned_v<I> && sizeof(I) >= sizeof(int64_t))
    return value > static_cast<uint64_t>(kMax) ? kMax : static_cast<int64_t>(value);
  else
    return static_cast<int64_t>(value);
}

/// A size that changes from call to call: `Var b("batch", 1, 256); from(p, {b(96), 784})`. Plans and kernels are
/// made once for the bound `max`; the value is part of a node's identity only. Two variables are the same if name
/// and bounds agree.
class Var {
 public:
  /// UsageError unless 0 <= min <= max.
  Var(std::string name, int64_t min, int64_t max, std::source_location where = std::source_location::current());
  /// The variable at one value. UsageError unless min <= value <= max.
  Dim operator()(int64_t value, std::source_location where = std::source_location::current()) const;

  const std::string& name() const { return info_->name; }  ///< as given
  int64_t min() const { return info_->min; }               ///< smallest value
  int64_t max() const { return info_->max; }               ///< largest value
  /// The same name and bounds.
  friend bool operator==(const Var&, const Var&) = default;

 private:
  friend class Dim;
  /// One object per name and bounds; never destroyed.
  struct Info {
    std::string name;
    int64_t min, max;
  };
  struct Known;
  explicit Var(const Info* info) : info_(info) {}
  const Info* info_;
};

/// One size of a shape. It converts to int64_t. For a symbolic size that throws UsageError; `value()` never does.
class Dim {
 public:
  /// A fixed size: sizes are written as plain numbers.
  template <std::integral I>
  Dim(I value) : value_(saturated(value)) {}  // NOLINT

  /// Whether the size is a variable's.
  bool symbolic() const { return var_ != nullptr; }
  /// The number at this call.
  int64_t value() const { return value_; }
  /// The largest number that this size can be; arenas and reduction trees are planned for it.
  int64_t bound() const { return var_ ? var_->max : value_; }
  /// The variable; only if symbolic().
  Var var() const { return Var(var_); }
  operator int64_t() const;  ///< UsageError when symbolic()  NOLINT

  /// Equal sizes: the same number, or the same variable at the same value. A symbolic size equals only itself.
  friend bool operator==(const Dim&, const Dim&) = default;
  /// Whether the size is fixed at that number.
  template <std::integral I>
  friend bool operator==(const Dim& a, I b) {
    return !a.symbolic() && std::in_range<int64_t>(b) && a.value_ == static_cast<int64_t>(b);
  }

  /// Arithmetic of two sizes is that of their numbers, as with a size and a number. UsageError when one is symbolic.
  template <std::same_as<Dim> D>
  friend int64_t operator+(const D& a, const D& b) {
    return static_cast<int64_t>(a) + static_cast<int64_t>(b);
  }
  /// Difference.
  template <std::same_as<Dim> D>
  friend int64_t operator-(const D& a, const D& b) {
    return static_cast<int64_t>(a) - static_cast<int64_t>(b);
  }
  /// Product.
  template <std::same_as<Dim> D>
  friend int64_t operator*(const D& a, const D& b) {
    return static_cast<int64_t>(a) * static_cast<int64_t>(b);
  }
  /// Quotient, truncated.
  template <std::same_as<Dim> D>
  friend int64_t operator/(const D& a, const D& b) {
    return static_cast<int64_t>(a) / static_cast<int64_t>(b);
  }
  /// Remainder of the quotient.
  template <std::same_as<Dim> D>
  friend int64_t operator%(const D& a, const D& b) {
    return static_cast<int64_t>(a) % static_cast<int64_t>(b);
  }
  /// Negative.
  template <std::same_as<Dim> D>
  friend int64_t operator-(const D& a) {
    return -static_cast<int64_t>(a);
  }
  /// Order of the numbers. A template, so that a number beside a size converts the size, not the number.
  template <std::same_as<Dim> D>
  friend std::strong_ordering operator<=>(const D& a, const D& b) {
    return static_cast<int64_t>(a) <=> static_cast<int64_t>(b);
  }

 private:
  friend class Var;
  Dim(int64_t value, const Var::Info* var) : value_(value), var_(var) {}
  int64_t value_;
  const Var::Info* var_ = nullptr;
};

/// The sizes of a tensor, outermost first. Any rank; rank 0 is a scalar.
class Shape {
 public:
  using Dims = InlineVector<Dim, 4>;  ///< the list of sizes

  Shape() = default;                                       ///< a scalar's
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}  ///< {2, 3}
  /// One axis: zeros(3), view(-1).
  template <std::integral I>
  Shape(I size) : dims_{Dim(size)} {}                            // NOLINT: implicit by design, as the next
  Shape(const Dim& size) : dims_{size} {}                        ///< the same  NOLINT
  explicit Shape(Dims dims) : dims_(std::move(dims)) {}          ///< these sizes
  explicit Shape(const std::vector<Dim>& dims) : dims_(dims) {}  ///< these sizes
  /// These sizes.
  template <std::integral I>
  explicit Shape(const std::vector<I>& dims) : dims_(dims.begin(), dims.end()) {}

  size_t rank() const { return dims_.size(); }  ///< number of axes
  bool empty() const { return dims_.empty(); }  ///< a scalar's
  /// The size of one axis; negative axes count from the end. UsageError if there is no such axis.
  template <std::integral I>
  const Dim& operator[](I axis) const& {
    return dims_[place(axis)];
  }
  /// The same, writable.
  template <std::integral I>
  Dim& operator[](I axis) & {
    return dims_[place(axis)];
  }
  /// The same for a temporary.
  template <std::integral I>
  Dim operator[](I axis) && {
    return dims_[place(axis)];
  }
  auto begin() const { return dims_.begin(); }   ///< outermost size
  auto end() const { return dims_.end(); }       ///< after the innermost
  void push_back(Dim d) { dims_.push_back(d); }  ///< one more axis, innermost
  const Dims& dims() const& { return dims_; }    ///< all sizes
  Dims dims() && { return std::move(dims_); }    ///< all sizes

  /// Number of elements at the values of this call; 1 for a scalar. UsageError for a shape that is not countable(),
  /// also in bound().
  int64_t numel() const;
  /// Number of elements at the bounds of the variables.
  int64_t bound() const;
  /// Whether any set of its axes, at the bounds of the variables, spans at most kMaxElements, so that no count of
  /// elements or bytes overflows. Sizes below 0 are not checked.
  bool countable() const;
  static constexpr int64_t kMaxElements = int64_t{1} << 56;  ///< limit for any tensor
  /// Whether one of the sizes is symbolic.
  bool symbolic() const {
    return std::ranges::any_of(dims_, [](const Dim& d) { return d.symbolic(); });
  }
  /// Whether all sizes are equal.
  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }

 private:
  template <std::integral I>
  size_t place(I axis) const {
    size_t at = static_cast<size_t>(axis);
    if (std::is_signed_v<I> && axis < 0) at += dims_.size();  // wraps to a valid axis, or beyond all
    if (at >= dims_.size()) no_axis(static_cast<int64_t>(axis));
    return at;
  }
  [[noreturn]] void no_axis(int64_t axis) const;

  Dims dims_;
};

/// "[2, 3]"; a symbolic size prints as "batch=96".
std::string to_string(const Dim& dim);
std::string to_string(const Shape& shape);                       ///< as its sizes
std::ostream& operator<<(std::ostream& os, const Dim& dim);      ///< to_string(dim)
std::ostream& operator<<(std::ostream& os, const Shape& shape);  ///< to_string(shape)

}  // namespace sinter::inline v0

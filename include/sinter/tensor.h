// A tensor: a handle to a lazy value. Calls build a graph and never compute; a host read (`item`, `to_vector`, printing)
// or `realize` does. What programs mean is fixed in docs/semantics.md.
//
// Threads: tensors may be built and realised from several threads; one handle is written by one thread at a time.
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sinter/arg.h"
#include "sinter/device.h"
#include "sinter/dtype.h"
#include "sinter/error.h"
#include "sinter/shape.h"

namespace sinter {
inline namespace v0 {

/// Axes of a reduction: none given means all; negative ones count from the end.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : list_(std::vector<int64_t>{axis}) {}                               // NOLINT
  Axes(int64_t axis) : list_(std::vector<int64_t>{axis}) {}                           // NOLINT
  Axes(std::initializer_list<int64_t> axes) : list_(axes) {}
  Axes(std::vector<int64_t> axes) : list_(std::move(axes)) {}   // NOLINT
  bool all() const { return !list_.has_value(); }
  const std::vector<int64_t>& list() const { return *list_; }

 private:
  std::optional<std::vector<int64_t>> list_;
};

/// [begin, end) in steps; absent ends mean the axis' own, negative ones count from the end, as in Python.
struct Slice {
  std::optional<int64_t> begin = {}, end = {};
  int64_t step = 1;
};
struct NewAxis {};
struct Ellipsis {};
inline constexpr NewAxis newaxis{};
inline constexpr Ellipsis ellipsis{};

class Index;  // below: one item of index({...}) and at({...})

/// A handle to a shared cell. Copies alias the cell, as in PyTorch; operators are pure; only assign and its forms write.
class Tensor {
 public:
  /// An empty handle: using it is a UsageError.
  Tensor() = default;
  /// The scalar of that number: float32 for a double literal or a float, int64, bool.
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit Tensor(T value, Loc where = Loc::current()) : cell_(scalar(Arg(value, where))) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  /// Rebinds the handle; writes nothing. Not on temporaries: `x.at({0}) = v` writes, `x[0] = v` does not compile.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;

  // -- what it is
  Shape shape() const;
  /// The size of one axis.
  Dim size(int64_t axis, Loc where = Loc::current()) const;
  int64_t rank() const;
  int64_t numel() const;
  DType dtype() const;
  Device device() const;
  bool defined() const { return cell_ != nullptr; }

  // -- host reads: realise, wait, copy. T must be the element type's C++ type (UsageError otherwise)
  template <class T> T item(Loc where = Loc::current()) const;             ///< of one element
  double item(Loc where = Loc::current()) const;                           ///< of one element, any type, as a double
  template <class T> std::vector<T> to_vector(Loc where = Loc::current()) const;  ///< row-major
  /// NumPy-like text; also `os << t`.
  std::string to_string() const;

  // -- movement: values that share no memory rule with the user; all are lazy and cost nothing by themselves
  /// At most one size is -1: what is left.
  Tensor reshape(Shape shape, Loc where = Loc::current()) const;
  Tensor flatten(int64_t first = 0, int64_t last = -1, Loc where = Loc::current()) const;
  Tensor permute(std::vector<int64_t> order, Loc where = Loc::current()) const;
  Tensor transpose(int64_t a = -2, int64_t b = -1, Loc where = Loc::current()) const;
  Tensor movedim(int64_t from, int64_t to, Loc where = Loc::current()) const;
  /// NumPy broadcasting to a larger shape; -1 keeps a size.
  Tensor expand(Shape shape, Loc where = Loc::current()) const;
  Tensor squeeze(Axes axes = {}, Loc where = Loc::current()) const;
  Tensor unsqueeze(int64_t axis, Loc where = Loc::current()) const;
  Tensor flip(Axes axes = {}, Loc where = Loc::current()) const;
  /// {before, after} per axis, counted from the last axis as in PyTorch when fewer are given than axes.
  Tensor pad(std::vector<std::pair<int64_t, int64_t>> widths, Arg value = 0.0, Loc where = Loc::current()) const;
  Tensor slice(int64_t axis, Slice slice, Loc where = Loc::current()) const;
  /// x[i]: row i of the first axis, a value; i is an integer or a tensor of integers.
  Tensor operator[](Arg i) const;
  /// NumPy's basic and integer-tensor indexing, a value. Index tensors out of range throw at the first host read;
  /// bool masks are refused, because the size of the result would depend on the data.
  Tensor index(std::vector<Index> items, Loc where = Loc::current()) const;
  std::vector<Tensor> split(int64_t size, int64_t axis = 0, Loc where = Loc::current()) const;
  std::vector<Tensor> chunk(int64_t count, int64_t axis = 0, Loc where = Loc::current()) const;

  // -- reductions; keepdim leaves reduced axes with size 1
  Tensor sum(Axes axes = {}, bool keepdim = false, Loc where = Loc::current()) const;   ///< bool and small integers in int64
  Tensor prod(Axes axes = {}, bool keepdim = false, Loc where = Loc::current()) const;
  Tensor mean(Axes axes = {}, bool keepdim = false, Loc where = Loc::current()) const;  ///< integers in float32
  Tensor var(Axes axes = {}, int64_t correction = 1, bool keepdim = false, Loc where = Loc::current()) const;
  Tensor std(Axes axes = {}, int64_t correction = 1, bool keepdim = false, Loc where = Loc::current()) const;
  Tensor max(Axes axes = {}, bool keepdim = false, Loc where = Loc::current()) const;   ///< NaN if any is; ties share the gradient
  Tensor min(Axes axes = {}, bool keepdim = false, Loc where = Loc::current()) const;
  Tensor any(Axes axes = {}, bool keepdim = false, Loc where = Loc::current()) const;   ///< bool
  Tensor all(Axes axes = {}, bool keepdim = false, Loc where = Loc::current()) const;
  /// int64 index of the first largest element along one axis, or in the flattened tensor; the first NaN wins.
  Tensor argmax(std::optional<int64_t> axis = {}, bool keepdim = false, Loc where = Loc::current()) const;
  Tensor argmin(std::optional<int64_t> axis = {}, bool keepdim = false, Loc where = Loc::current()) const;

  // -- types, places
  Tensor to(DType dtype, Loc where = Loc::current()) const;
  Tensor to(Device device, Loc where = Loc::current()) const;
  /// The value in a buffer of its own.
  Tensor contiguous(Loc where = Loc::current()) const;

  // -- state (docs/semantics.md, V). Not on temporaries, whose cell nobody would see: x[0] += 1 does not compile.
  /// Makes a new version of this cell that holds `value`, broadcast to the shape. Values built before keep what they
  /// had.
  Tensor& assign(Arg value, Loc where = Loc::current()) &;
  Tensor& operator+=(Arg value) &;
  Tensor& operator-=(Arg value) &;
  Tensor& operator*=(Arg value) &;
  Tensor& operator/=(Arg value) &;
  /// A part of this cell that can be written: `x.at({2, Slice{0, 3}}) = v`.
  Place at(std::vector<Index> items, Loc where = Loc::current()) &;
  /// A second cell with the same value: what `auto y = x` is in a language of values.
  Tensor clone() const;
  /// Computes it now; returns itself. `realize(a, b)` computes several in one plan.
  const Tensor& realize(Loc where = Loc::current()) const;
  Tensor& realize(Loc where = Loc::current());

  // -- gradients (docs/semantics.md, G)
  /// Makes the cell a leaf whose gradient backward() collects. Floats only.
  Tensor& requires_grad(bool on = true, Loc where = Loc::current());
  bool needs_grad() const;
  /// The value without history.
  Tensor detach() const;
  /// Adds the gradient of this scalar into .grad() of every leaf it depends on.
  void backward(bool keep_graph = false, Loc where = Loc::current()) const;
  /// The collected gradient; UsageError when there is none, saying who took it.
  Tensor grad(Loc where = Loc::current()) const;
  bool has_grad() const;
  /// Replaces the collected gradient: `p.set_grad(p.grad() * 0.5)` is what p.grad() *= 0.5 is elsewhere.
  void set_grad(const Tensor& grad, Loc where = Loc::current());
  void zero_grad();

  /// For the library's own layers: the cell behind the handle.
  const std::shared_ptr<Cell>& cell() const { return cell_; }
  explicit Tensor(std::shared_ptr<Cell> cell) : cell_(std::move(cell)) {}

 private:
  static std::shared_ptr<Cell> scalar(Arg value);
  std::shared_ptr<Cell> cell_;
};

/// A part of a tensor, as `at({...})` gives it: written by `=` and its forms, read by conversion to a Tensor.
class Place {
 public:
  Place(const Place&) = default;
  /// Writes the part of the other tensor into this one: `x.at({0}) = y.at({1})`.
  Place& operator=(const Place& value) { return assign(Arg(value)); }
  Place& operator=(Arg value) { return assign(value); }
  Place& operator+=(Arg value);
  Place& operator-=(Arg value);
  Place& operator*=(Arg value);
  Place& operator/=(Arg value);
  /// `value` is broadcast to the shape of the part. Integer-tensor indices are refused here (UsageError).
  Place& assign(Arg value);
  operator Tensor() const;  // NOLINT: a place reads as its value

 private:
  friend class Tensor;
  friend class Arg;
  Place(Tensor target, std::vector<Index> items, Loc where);
  Tensor target_;
  std::shared_ptr<const std::vector<Index>> items_;
  Loc where_;
};

/// One item of an index: a number, a Slice, newaxis, ellipsis, or a tensor of integers or bools.
class Index {
 public:
  enum class Kind : uint8_t { Number, Slice, NewAxis, Ellipsis, Tensor };
  Index(int64_t number) : kind(Kind::Number), number(number) {}  // NOLINT
  Index(int number) : kind(Kind::Number), number(number) {}      // NOLINT
  Index(Slice s) : kind(Kind::Slice), slice(s) {}                // NOLINT
  Index(NewAxis) : kind(Kind::NewAxis) {}                        // NOLINT
  Index(Ellipsis) : kind(Kind::Ellipsis) {}                      // NOLINT
  Index(Tensor t) : kind(Kind::Tensor), tensor(std::move(t)) {}  // NOLINT

  Kind kind;
  int64_t number = 0;
  Slice slice = {};
  Tensor tensor = {};
};

// -- arithmetic with NumPy broadcasting and the promotion table of docs/dtypes.md
Tensor operator+(Arg a, Arg b);
Tensor operator-(Arg a, Arg b);
Tensor operator*(Arg a, Arg b);
Tensor operator/(Arg a, Arg b);  ///< true division: integers give float32
Tensor operator%(Arg a, Arg b);  ///< NumPy's remainder: the sign of the divisor
Tensor operator-(Arg a);
Tensor operator==(Arg a, Arg b);
Tensor operator!=(Arg a, Arg b);
Tensor operator<(Arg a, Arg b);
Tensor operator<=(Arg a, Arg b);
Tensor operator>(Arg a, Arg b);
Tensor operator>=(Arg a, Arg b);
Tensor operator&(Arg a, Arg b);
Tensor operator|(Arg a, Arg b);
Tensor operator^(Arg a, Arg b);
Tensor operator~(Arg a);  ///< bool: not
Tensor operator<<(Arg a, Arg b);
Tensor operator>>(Arg a, Arg b);
std::ostream& operator<<(std::ostream& os, const Tensor& t);

/// Computes all of them in one plan. Empty handles are a UsageError.
void realize_all(std::span<const Tensor> tensors, Loc where = Loc::current());
template <class... T>
  requires(std::same_as<T, Tensor> && ...)
void realize(const T&... tensors) {
  const Tensor list[] = {tensors...};
  realize_all(list);
}

}  // namespace v0
}  // namespace sinter

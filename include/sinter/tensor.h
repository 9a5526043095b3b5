// A tensor: a handle to a lazy value. Calls build a graph and never compute; a host read (`item`, `to_vector`,
// printing) or `realize` does. What programs mean is fixed in docs/semantics.md.
//
// Threads: tensors may be built and realised from several threads; one handle is written by one thread at a time.
#pragma once

#include <array>
#include <concepts>
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

/// Tensors and what is computed with them.
namespace sinter {
inline namespace v0 {

/// Every axis, in a call that takes axes: x.sum(all_axes, true).
struct AllAxes {};
inline constexpr AllAxes all_axes{};  ///< what such a call takes when none are given

/// Axes of a reduction; negative ones count from the end.
class Axes {
 public:
  Axes(AllAxes) {}  ///< all  NOLINT: implicit by design, as the others
  /// One axis.
  template <Integer I>
  Axes(I axis) : list_(std::vector<int64_t>{saturated(axis)}) {}  // NOLINT
  // Without a default constructor, so that {} is a list too.
  Axes(std::initializer_list<int64_t> axes) : list_(axes) {}   ///< several, none of them twice; {} reduces nothing
  Axes(std::vector<int64_t> axes) : list_(std::move(axes)) {}  ///< the same  NOLINT
  /// It is all of them, however many.
  bool all() const { return !list_.has_value(); }
  /// As given; only if a list was.
  const std::vector<int64_t>& list() const { return *list_; }

 private:
  std::optional<std::vector<int64_t>> list_;
};

/// Where a slice begins or ends: a number, or nothing for the axis' own. A number that int64 cannot hold is the
/// largest.
class SliceEnd : public std::optional<int64_t> {
 public:
  SliceEnd() = default;        ///< the axis' own
  SliceEnd(std::nullopt_t) {}  ///< the same  NOLINT: implicit by design, as the others
  /// A number.
  template <Integer I>
  SliceEnd(I number) : optional(saturated(number)) {}  // NOLINT
  /// A size of a shape.
  SliceEnd(const Dim& size) : optional(static_cast<int64_t>(size)) {}  // NOLINT
  SliceEnd(std::optional<int64_t> end) : optional(end) {}              ///< either  NOLINT
};

/// [begin, end) in steps, as in Python: absent ends mean the axis' own, negative ones count from the end, ends outside
/// are cut.
struct Slice {
  SliceEnd begin = {};  ///< first element
  SliceEnd end = {};    ///< behind the last element
  int64_t step = 1;     ///< not 0; negative walks backwards
};
/// A new axis of size 1 in an index.
struct NewAxis {};
/// All axes that an index does not name; at most once.
struct Ellipsis {};
inline constexpr NewAxis newaxis{};    ///< x.index({newaxis, 0})
inline constexpr Ellipsis ellipsis{};  ///< x.index({ellipsis, 0})

class Index;  // below: one item of index({...}) and at({...})

/// A handle to a shared cell. Copies alias the cell, as in PyTorch; operators are pure; only assign and its forms
/// write.
///
/// Every call that takes a `Loc` or an Arg reports errors at the caller's line. What every call refuses with a
/// UsageError: an empty handle, an axis that the tensor has not, an axis given twice, and the 8-bit floats.
class Tensor {
 public:
  /// An empty handle: using it is a UsageError.
  Tensor() = default;
  /// The scalar of that number: float32 for a double literal or a float, int64, bool.
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit Tensor(T value, Loc where = Loc::current()) : cell_(scalar(Arg(value, where))) {}
  Tensor(const Tensor&) = default;      ///< a second handle to the same cell
  Tensor(Tensor&&) noexcept = default;  ///< leaves an empty handle behind
  /// Rebinds the handle; writes nothing. Not on temporaries: `x.at({0}) = v` writes, `x[0] = v` does not compile.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;  ///< the same

  /// @name What it is
  /// Known without computing anything.
  /// @{

  /// The sizes, outermost first; of rank 0 for a scalar.
  Shape shape(Loc where = Loc::current()) const;
  /// The size of one axis.
  Dim size(int64_t axis, Loc where = Loc::current()) const;
  /// Number of axes.
  int64_t rank(Loc where = Loc::current()) const;
  /// Number of elements; 1 for a scalar. Of a symbolic shape, at the values bound now.
  int64_t numel(Loc where = Loc::current()) const;
  /// Type of the elements.
  DType dtype(Loc where = Loc::current()) const;
  /// Where the numbers live.
  Device device(Loc where = Loc::current()) const;
  /// False for an empty handle.
  bool defined() const { return cell_ != nullptr; }
  /// @}

  /// @name Host reads
  /// They realise, wait and copy. The first read of what was computed with an index out of range is a UsageError; what
  /// a failed launch should have computed throws its BackendError.
  /// @snippet reading.cpp reading
  /// @{

  /// The number of a tensor of one element. UsageError if there are more, or T is not the C++ type of its dtype; float
  /// reads the 16-bit floats too.
  template <Element T>
  T item(Loc where = Loc::current()) const;
  /// The number of a tensor of one element, of any dtype, as a double.
  double item(Loc where = Loc::current()) const;
  /// All elements, row-major. UsageError if T is not the C++ type of the dtype; float reads the 16-bit floats too.
  template <Element T>
  std::vector<T> to_vector(Loc where = Loc::current()) const;
  /// All elements, row-major, as they lie in memory: what from_bytes() takes.
  std::vector<std::byte> to_bytes(Loc where = Loc::current()) const;
  /// NumPy-like text: large tensors are shortened. `os << t` is the same.
  std::string to_string(Loc where = Loc::current()) const;
  /// @}

  /// @name Movement
  /// Lazy values; they cost nothing by themselves, and keep the dtype. A write to a slice goes through at().
  /// @snippet movement.cpp movement
  /// @{

  /// The elements in row-major order under another shape; at most one size is -1: what is left. UsageError unless the
  /// numbers of elements agree. A symbolic size stays an axis of its own.
  Tensor reshape(Shape shape, Loc where = Loc::current()) const;
  /// Joins the axes `first` to `last`, both included, into one; a scalar becomes [1].
  Tensor flatten(int64_t first = 0, int64_t last = -1, Loc where = Loc::current()) const;
  /// Axis i of the result is axis order[i]; each axis stands once.
  Tensor permute(std::vector<int64_t> order, Loc where = Loc::current()) const;
  /// Swaps two axes.
  Tensor transpose(int64_t a = -2, int64_t b = -1, Loc where = Loc::current()) const;
  /// Moves one axis to another place; the others keep their order.
  Tensor movedim(int64_t from, int64_t to, Loc where = Loc::current()) const;
  /// Repeats axes of size 1, and adds leading axes; -1 keeps a size. UsageError if another size would change.
  Tensor expand(Shape shape, Loc where = Loc::current()) const;
  /// Drops the axes of size 1, or those of them that are named.
  Tensor squeeze(Axes axes = all_axes, Loc where = Loc::current()) const;
  /// A new axis of size 1 before `axis`; -1 is behind the last.
  Tensor unsqueeze(int64_t axis, Loc where = Loc::current()) const;
  /// Reverses the axes.
  Tensor flip(Axes axes = all_axes, Loc where = Loc::current()) const;
  /// Puts `value`, one number, around: {before, after} per axis, counted from the last axis as in PyTorch when fewer
  /// are given than axes. Negative widths are a UsageError.
  Tensor pad(std::vector<std::pair<int64_t, int64_t>> widths, Arg value = 0.0, Loc where = Loc::current()) const;
  /// Part of one axis.
  Tensor slice(int64_t axis, Slice slice, Loc where = Loc::current()) const;
  /// x[i]: row i of the first axis; i is an integer or a tensor of integers. An integer out of range is a UsageError
  /// here, one in a tensor at the first host read.
  Tensor operator[](Arg i) const;
  /// NumPy's basic and integer-tensor indexing: x.index({0, Slice{1, 3}, ellipsis, newaxis, t}). Index tensors
  /// broadcast against each other; one out of range throws at the first host read. Bool masks are refused, because the
  /// size of the result would depend on the data.
  Tensor index(std::vector<Index> items, Loc where = Loc::current()) const;
  /// Parts of `size` along an axis; the last may be smaller.
  std::vector<Tensor> split(int64_t size, int64_t axis = 0, Loc where = Loc::current()) const;
  /// At most `count` parts of equal size along an axis; the last may be smaller.
  std::vector<Tensor> chunk(int64_t count, int64_t axis = 0, Loc where = Loc::current()) const;
  /// @}

  /// @name Reductions
  /// Over some axes, or all; {} reduces nothing, and casts as the reduction does; keepdim leaves them with size 1. No
  /// axis of size 0 where there is no identity: max, min, argmax, argmin refuse it. How sums are rounded:
  /// docs/semantics.md, F2.
  /// @snippet choose_reductions.cpp reductions
  /// @{

  /// Floats and uint64 in their type; bool and the other integers in int64, which wraps.
  Tensor sum(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// Types as sum().
  Tensor prod(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// sum / count; integers in float32. NaN of no elements.
  Tensor mean(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// sum((x - mean)^2) / (count - correction); correction 1 is the unbiased estimate, 0 NumPy's. Integers in float32.
  Tensor var(Axes axes = all_axes, int64_t correction = 1, bool keepdim = false, Loc where = Loc::current()) const;
  /// sqrt(var).
  Tensor std(Axes axes = all_axes, int64_t correction = 1, bool keepdim = false, Loc where = Loc::current()) const;
  /// The largest element; NaN if any is. Ties share the gradient.
  Tensor max(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// The smallest element; NaN if any is. Ties share the gradient.
  Tensor min(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// bool: an element is not 0. False of no elements.
  Tensor any(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// bool: no element is 0. True of no elements.
  Tensor all(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// int64 index of the first largest element along one axis, or in the flattened tensor; the first NaN wins.
  Tensor argmax(std::optional<int64_t> axis = {}, bool keepdim = false, Loc where = Loc::current()) const;
  /// The same of the smallest.
  Tensor argmin(std::optional<int64_t> axis = {}, bool keepdim = false, Loc where = Loc::current()) const;
  /// @}

  /// @name Types and places
  /// @{

  /// The values in another type: floats become integers by truncation, saturate, and NaN becomes 0; a bool is x != 0.
  Tensor to(DType dtype, Loc where = Loc::current()) const;
  /// The values on another device; the original stays valid. UsageError for a device that does not exist.
  Tensor to(Device device, Loc where = Loc::current()) const;
  /// to(Device::cuda(index)).
  Tensor cuda(int index = 0, Loc where = Loc::current()) const;
  /// to(Device::cpu()).
  Tensor cpu(Loc where = Loc::current()) const;
  /// The value, stored: what reads it does not compute it again. What is stored already is itself; clone() copies.
  Tensor contiguous(Loc where = Loc::current()) const;
  /// @}

  /// @name State
  /// Only these write; docs/semantics.md, V. A value that was built before a write keeps what it had. Not on
  /// temporaries, whose cell nobody would see: x[0] += 1 does not compile.
  /// @snippet assign.cpp state
  /// @{

  /// Makes a new version of this cell that holds `value`, broadcast to the shape and cast to the dtype within its kind
  /// (a float does not fit an integer). UsageError for a leaf that requires grad, except under no_grad.
  Tensor& assign(Arg value, Loc where = Loc::current()) &;
  /// assign(*this op value).
  Tensor& operator+=(Arg value) &;
  Tensor& operator-=(Arg value) &;  ///< as +=
  Tensor& operator*=(Arg value) &;  ///< as +=
  Tensor& operator/=(Arg value) &;  ///< as +=
  /// A part of this cell that can be written: `x.at({2, Slice{0, 3}}) = v`.
  Place at(std::vector<Index> items, Loc where = Loc::current()) &;
  /// A copy: a cell of its own, and once it is realised memory of its own. Until then it costs nothing where it is
  /// read.
  Tensor clone(Loc where = Loc::current()) const;
  /// Computes it now; returns itself. `realize(a, b)` computes several in one plan.
  const Tensor& realize(Loc where = Loc::current()) const;
  Tensor& realize(Loc where = Loc::current());  ///< the same
  /// @}

  /// @name Gradients
  /// docs/semantics.md, G. As values: gradient().
  /// @snippet gradients.cpp backward
  /// @{

  /// Makes the cell a leaf whose gradient backward() collects, or no longer one. UsageError unless it is of
  /// floats.
  Tensor& requires_grad(bool on = true, Loc where = Loc::current());
  /// It is such a leaf, or depends on one.
  bool needs_grad(Loc where = Loc::current()) const;
  /// The value without history.
  Tensor detach(Loc where = Loc::current()) const;
  /// Adds the gradient of this scalar into grad() of every leaf it depends on. What it walked is used up: a second time
  /// is a UsageError unless the first kept the graph.
  void backward(bool keep_graph = false, Loc where = Loc::current()) const;
  /// A number is no flag: a seed is a tensor, as in `backward(Tensor(2.0))`.
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
  void backward(T seed, bool keep_graph = false, Loc where = Loc::current()) const = delete;
  /// The same of a tensor of any shape: `seed`, of its shape and dtype, is the factor of each element.
  void backward(const Tensor& seed, bool keep_graph = false, Loc where = Loc::current()) const;
  /// The collected gradient, of this shape and dtype; UsageError when there is none, saying who took it.
  Tensor grad(Loc where = Loc::current()) const;
  /// There is one.
  bool has_grad(Loc where = Loc::current()) const;
  /// Puts a tensor of this shape and dtype in its place: `p.set_grad(p.grad() * 0.5)` is what p.grad() *= 0.5 is
  /// elsewhere. A handle to the one before keeps its value.
  void set_grad(const Tensor& grad, Loc where = Loc::current());
  /// Leaves none.
  void zero_grad(Loc where = Loc::current());
  /// @}

  /// For the library's own layers: the cell behind the handle.
  const std::shared_ptr<Cell>& cell() const { return cell_; }
  /// The same: a handle to that cell.
  explicit Tensor(std::shared_ptr<Cell> cell) : cell_(std::move(cell)) {}

 private:
  static std::shared_ptr<Cell> scalar(Arg value);
  std::shared_ptr<Cell> cell_;
};

/// A part of a tensor, as `at({...})` gives it: written by `=` and its forms, read by conversion to a Tensor.
class Place {
 public:
  Place(const Place&) = default;  ///< the same place
  /// Writes the part of the other tensor into this one: `x.at({0}) = y.at({1})`.
  Place& operator=(const Place& value) { return assign(Arg(value)); }
  Place& operator=(Arg value) { return assign(value); }  ///< assign(value)
  Place& operator+=(Arg value);                          ///< assign(part + value)
  Place& operator-=(Arg value);                          ///< assign(part - value)
  Place& operator*=(Arg value);                          ///< assign(part * value)
  Place& operator/=(Arg value);                          ///< assign(part / value)
  /// `value` is broadcast to the shape of the part, and cast as Tensor::assign does. Integer-tensor indices are refused
  /// here (UsageError).
  Place& assign(Arg value);
  operator Tensor() const;  ///< the value that stands there  NOLINT

 private:
  friend class Tensor;
  friend class Arg;
  Place(Tensor target, std::vector<Index> items, Loc where);
  Tensor target_;
  std::shared_ptr<const std::vector<Index>> items_;
  Loc where_;
};

/// One item of an index: a number, a Slice, newaxis, ellipsis, or a tensor of integers.
class Index {
 public:
  /// What it is.
  enum class Kind : uint8_t { Number, Slice, NewAxis, Ellipsis, Tensor };
  /// One element; the axis goes.
  template <Integer I>
  Index(I number) : kind(Kind::Number), number(saturated(number)) {}  // NOLINT
  Index(Slice s) : kind(Kind::Slice), slice(s) {}                     ///< part of the axis  NOLINT
  Index(NewAxis) : kind(Kind::NewAxis) {}                             ///< an axis of size 1  NOLINT
  Index(Ellipsis) : kind(Kind::Ellipsis) {}                           ///< all axes that are not named  NOLINT
  Index(Tensor t) : kind(Kind::Tensor), tensor(std::move(t)) {}       ///< the elements that it names  NOLINT

  Kind kind;           ///< which of the following counts
  int64_t number = 0;  ///< negative ones count from the end
  Slice slice = {};    ///< of Kind::Slice
  Tensor tensor = {};  ///< of Kind::Tensor
};

/// @defgroup operators Operators
/// NumPy broadcasting, and the promotion table of docs/dtypes.md. Shapes that do not broadcast are a UsageError.
/// @snippet elementwise.cpp operators
/// @{
Tensor operator+(Arg a, Arg b);   ///< sum; on bool: or
Tensor operator-(Arg a, Arg b);   ///< difference; not on bool
Tensor operator*(Arg a, Arg b);   ///< product; on bool: and
Tensor operator/(Arg a, Arg b);   ///< true division: integers and bools give float32
Tensor operator%(Arg a, Arg b);   ///< NumPy's remainder: the sign of the divisor; an integer % 0 is 0; not on bool
Tensor operator-(Arg a);          ///< negative; not on bool
Tensor operator==(Arg a, Arg b);  ///< bool, as the next five; false where one is NaN
Tensor operator!=(Arg a, Arg b);  ///< true where one is NaN
Tensor operator<(Arg a, Arg b);   ///< false where one is NaN
Tensor operator<=(Arg a, Arg b);  ///< false where one is NaN
Tensor operator>(Arg a, Arg b);   ///< false where one is NaN
Tensor operator>=(Arg a, Arg b);  ///< false where one is NaN
Tensor operator&(Arg a, Arg b);   ///< bits of integers, truth of bools; as the next three not on floats
Tensor operator|(Arg a, Arg b);   ///< or
Tensor operator^(Arg a, Arg b);   ///< exclusive or
Tensor operator~(Arg a);          ///< bool: not
Tensor operator<<(Arg a, Arg b);  ///< integers; shifts by b modulo the number of bits
Tensor operator>>(Arg a, Arg b);  ///< the same; signed types copy the sign
/// @}
/// Writes t.to_string().
std::ostream& operator<<(std::ostream& os, const Tensor& t);

/// Computes all of them in one plan. Empty handles are a UsageError; OutOfMemory and CompileError leave all tensors as
/// they were.
void realize_all(std::span<const Tensor> tensors, Loc where = Loc::current());
/// The same of `first` and the others. A number is a UsageError.
void realize_all(const Arg& first, std::span<const Tensor> others);
/// The same: realize(a, b, c).
template <std::same_as<Tensor>... T>
void realize(const Arg& first, const T&... others) {
  realize_all(first, std::array<Tensor, sizeof...(T)>{others...});
}

}  // namespace v0
}  // namespace sinter

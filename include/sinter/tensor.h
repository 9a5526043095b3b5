// A tensor: a handle to a lazy value. Calls build a graph and never compute; a host read (`item`, `to_vector`,
// printing) or `realize` does. docs/semantics.md defines the meaning of programs.
//
// Threads: tensors may be built and realized from several threads; one handle is written by one thread at a time.
#pragma once

#include <array>
#include <concepts>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sinter/arg.h"
#include "sinter/axis_list.h"
#include "sinter/device.h"
#include "sinter/dtype.h"
#include "sinter/error.h"
#include "sinter/shape.h"
#include "sinter/tensor_methods.h"

/// Tensors and operations on them.
namespace sinter::inline v0 {

/// The begin or end of a slice: a number, or none for the end of the axis. A number that int64 cannot hold becomes the
/// largest.
class SliceEnd : public std::optional<Dim> {
 public:
  SliceEnd() = default;        ///< the end of the axis
  SliceEnd(std::nullopt_t) {}  ///< the same  NOLINT: implicit by design, as the others
  /// A number.
  template <Integer I>
  SliceEnd(I number) : optional(Dim(number)) {}  // NOLINT
  /// A size of a shape.
  SliceEnd(const Dim& size) : optional(size) {}            // NOLINT
  SliceEnd(std::optional<int64_t> end) : optional(end) {}  ///< either  NOLINT
  /// What begins at a tensor is no slice, whose length would depend on the data.
  template <std::same_as<Tensor> T>
  SliceEnd(const T&) = delete;  ///< write x.index({Narrow{begin, length}})
};

/// [begin, end) in steps, as in Python. Absent ends mean the ends of the axis, negative ones count from the end, ends
/// out of range are clamped. The end of a slice of step 1 may be a symbolic size, whose largest value must not exceed
/// the axis: `keys.slice(1, {0, n})` are the first n, in one program for each n. Its begin is a number, or see Narrow.
struct Slice {
  SliceEnd begin = {};  ///< first element
  SliceEnd end = {};    ///< after the last element
  int64_t step = 1;     ///< not 0; negative steps go backward
};
/// A new axis of size 1 in an index.
struct NewAxis {};
/// Stands for all axes that an index does not name; at most once.
struct Ellipsis {};
inline constexpr NewAxis newaxis{};    ///< x.index({newaxis, 0})
inline constexpr Ellipsis ellipsis{};  ///< x.index({ellipsis, 0})

class Index;     // below: one item of index({...}) and at({...})
class Extremum;  // below: what max(axis) and min(axis) give

/// A handle to a shared cell. Copies alias the cell, as in PyTorch. Operators are pure; only assign and its forms
/// write.
///
/// Every call that takes a `Loc` or an Arg reports errors at the caller's line. Every call refuses these with a
/// UsageError: an empty handle, an axis that the tensor does not have, an axis given twice, and the 8-bit floats.
class Tensor : public TensorMethods {
 public:
  /// An empty handle: using it is a UsageError.
  Tensor() = default;
  /// The scalar of that number: float32 for a double literal or a float, int64 for an integer, bool for a bool.
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit Tensor(T value, Loc where = Loc::current()) : cell_(scalar(Arg(value, where))) {}
  /// A size as an int64 scalar. The value of a symbolic size may change without another program being made.
  explicit Tensor(const Dim& size, Loc where = Loc::current()) : cell_(scalar(size, where)) {}
  Tensor(const Tensor&) = default;      ///< a second handle to the same cell
  Tensor(Tensor&&) noexcept = default;  ///< leaves an empty handle behind
  /// Rebinds the handle; writes nothing. Not on temporaries: `x.at({0}) = v` writes, `x[0] = v` does not compile.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;  ///< the same

  /// @name Not on temporaries
  /// What x[0], x.view({6}) and the like give is a value of its own: a write to it would be lost.
  /// @{
  void operator=(const Arg&) && = delete;   ///< write x.at({0}) = v
  void operator+=(const Arg&) && = delete;  ///< write x.at({0}) += v
  void operator-=(const Arg&) && = delete;  ///< write x.at({0}) -= v
  void operator*=(const Arg&) && = delete;  ///< write x.at({0}) *= v
  void operator/=(const Arg&) && = delete;  ///< write x.at({0}) /= v
  /// @}

  /// @name Properties
  /// Known without computing anything.
  /// @{

  /// The sizes, outermost first; rank 0 for a scalar.
  Shape shape(Loc where = Loc::current()) const;
  Shape sizes(Loc where = Loc::current()) const { return shape(where); }  ///< shape()
  int64_t dim(Loc where = Loc::current()) const { return rank(where); }   ///< rank()
  /// The size of one axis.
  Dim size(int64_t axis, Loc where = Loc::current()) const;
  /// Number of axes.
  int64_t rank(Loc where = Loc::current()) const;
  /// Number of elements; 1 for a scalar. For a symbolic shape, at the values bound now.
  int64_t numel(Loc where = Loc::current()) const;
  /// Type of the elements.
  DType dtype(Loc where = Loc::current()) const;
  /// The device that stores the elements.
  Device device(Loc where = Loc::current()) const;
  /// Whether the handle is not empty.
  bool defined() const { return cell_ != nullptr; }
  /// @}

  /// @name Host reads
  /// They realize, wait and copy. If the value was computed with an index out of range, the first read throws
  /// UsageError. If its launch failed, reads throw that BackendError.
  /// @snippet reading.cpp reading
  /// @{

  /// The element of a tensor of one element, converted to T. UsageError if there are more, or if T is an integer type
  /// that does not hold the number: 0.5, 1e10 as int32_t.
  template <Element T>
  T item(Loc where = Loc::current()) const;
  /// The element of a tensor of one element, of any dtype, as a double.
  double item(Loc where = Loc::current()) const;
  /// All elements, row-major. UsageError if T is not the C++ type of the dtype; float also reads the 16-bit floats.
  template <Element T>
  std::vector<T> to_vector(Loc where = Loc::current()) const;
  /// The bytes of all elements, row-major: what from_bytes() takes.
  std::vector<std::byte> to_bytes(Loc where = Loc::current()) const;
  /// Text as NumPy prints it; large tensors are shortened. `os << t` is the same.
  std::string to_string(Loc where = Loc::current()) const;
  /// @}

  /// @name Movement
  /// Lazy values. They cost nothing by themselves, and keep the dtype. Use at() to write to a slice.
  /// @snippet movement.cpp movement
  /// @{

  /// The elements in row-major order under another shape. At most one size is -1, for what is left. UsageError unless
  /// the numbers of elements agree. A symbolic size stays an axis of its own.
  Tensor reshape(Shape shape, Loc where = Loc::current()) const;
  /// Joins the axes `first` to `last`, both included, into one. A scalar becomes [1].
  Tensor flatten(int64_t first = 0, int64_t last = -1, Loc where = Loc::current()) const;
  /// Axis i of the result is axis order[i]; order names each axis once.
  Tensor permute(std::vector<int64_t> order, Loc where = Loc::current()) const;
  /// Swaps two axes.
  Tensor transpose(int64_t a = -2, int64_t b = -1, Loc where = Loc::current()) const;
  Tensor mT(Loc where = Loc::current()) const { return transpose(-2, -1, where); }  ///< transpose()
  /// Moves one axis to another position; the others keep their order.
  Tensor movedim(int64_t from, int64_t to, Loc where = Loc::current()) const;
  /// The same of several: axis from[i] to position to[i]. Both lists have one length and name each axis once
  /// (UsageError).
  Tensor movedim(const std::vector<int64_t>& from, const std::vector<int64_t>& to, Loc where = Loc::current()) const;
  /// Repeats axes of size 1, and adds leading axes; -1 keeps a size. UsageError if another size would change.
  Tensor expand(Shape shape, Loc where = Loc::current()) const;
  /// Drops the axes of size 1: all of them, or those among `axes`.
  Tensor squeeze(Axes axes = all_axes, Loc where = Loc::current()) const;
  /// Inserts a new axis of size 1 before `axis`; -1 is after the last.
  Tensor unsqueeze(int64_t axis, Loc where = Loc::current()) const;
  /// Reverses the elements along the axes.
  Tensor flip(Axes axes = all_axes, Loc where = Loc::current()) const;
  /// Pads with `value`, one number: {before, after} per axis, in the order of the axes. If fewer pairs are given than
  /// axes, they are for the last axes. PyTorch's flat list of widths begins with the last axis instead: its (1, 2, 3,
  /// 4) is {{3, 4}, {1, 2}}. Negative widths are a UsageError.
  Tensor pad(std::vector<std::pair<int64_t, int64_t>> widths, Arg value = 0.0, Loc where = Loc::current()) const;
  /// A part of one axis.
  Tensor slice(int64_t axis, Slice slice, Loc where = Loc::current()) const;
  /// The same: x.slice(1, 0, 5).
  Tensor slice(int64_t axis, SliceEnd begin, SliceEnd end, int64_t step = 1, Loc where = Loc::current()) const {
    return slice(axis, Slice{begin, end, step}, where);
  }
  /// x[i]: row i of the first axis; i is an integer, a tensor of integers, or a bool mask. An integer out of range is a
  /// UsageError here; an index out of range in a tensor is one at the first host read.
  Tensor operator[](Arg i) const;
  /// NumPy's basic and integer-tensor indexing: x.index({0, Slice{1, 3}, ellipsis, newaxis, t}). Index tensors
  /// broadcast against each other; an index out of range in them throws at the first host read. A bool mask stands for
  /// as many axes as it has, and gives the elements where it is true: the call computes and reads it, and is a
  /// UsageError inside jit(), where where(mask, x, y) or masked_scatter() serve.
  Tensor index(std::vector<Index> items, Loc where = Loc::current()) const;
  /// Parts of `size` along an axis; the last may be smaller.
  std::vector<Tensor> split(int64_t size, int64_t axis = 0, Loc where = Loc::current()) const;
  /// Parts of the given sizes, which sum to the size of the axis (UsageError).
  std::vector<Tensor> split(const std::vector<int64_t>& sizes, int64_t axis = 0, Loc where = Loc::current()) const;
  /// At most `count` parts of equal size along an axis; the last may be smaller. An axis of size 0 gives `count`.
  std::vector<Tensor> chunk(int64_t count, int64_t axis = 0, Loc where = Loc::current()) const;
  /// The windows of `size` elements along an axis, one every `step`: the axis becomes that of the windows, and their
  /// elements are a new last axis. A value, as all parts. The images' columns of PyTorch's nn.Unfold are unfold().
  Tensor unfold(int64_t axis, int64_t size, int64_t step, Loc where = Loc::current()) const;
  /// @}

  /// @name Reductions
  /// Over some axes, or all; {} reduces nothing, but casts as the reduction does. keepdim keeps the reduced axes with
  /// size 1. max, min, argmax and argmin refuse axes of size 0, since they have no identity. For the rounding of sums
  /// see docs/semantics.md, F2.
  /// @snippet reductions.cpp reductions
  /// @{

  /// Floats and uint64 in their own type; bool and the other integers in int64, which wraps.
  Tensor sum(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// Types as in sum().
  Tensor prod(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// sum / count; integers are computed in float32. NaN for no elements.
  Tensor mean(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// sum((x - mean)^2) / (count - correction). Correction 1 is the unbiased estimate, 0 is NumPy's. Integers are
  /// computed in float32.
  Tensor var(Axes axes = all_axes, int64_t correction = 1, bool keepdim = false, Loc where = Loc::current()) const;
  /// sqrt(var).
  Tensor std(Axes axes = all_axes, int64_t correction = 1, bool keepdim = false, Loc where = Loc::current()) const;
  /// The largest element; NaN if any is. Ties share the gradient.
  Tensor max(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// The smallest element; NaN if any is. Ties share the gradient.
  Tensor min(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// The largest element along one axis, and where it stands: `auto [values, indices] = x.max(1)`. The result is the
  /// tensor of the values.
  template <Integer I>
  Extremum max(I axis, bool keepdim = false, Loc where = Loc::current()) const;
  /// The smallest element along one axis, and where it stands.
  template <Integer I>
  Extremum min(I axis, bool keepdim = false, Loc where = Loc::current()) const;
  /// maximum() of two tensors.
  template <std::same_as<Tensor> T>
  Tensor max(const T& other, Loc where = Loc::current()) const {
    return maximum(Arg(other, where), where);
  }
  /// minimum() of two tensors.
  template <std::same_as<Tensor> T>
  Tensor min(const T& other, Loc where = Loc::current()) const {
    return minimum(Arg(other, where), where);
  }
  /// bool: whether any element is not 0. False for no elements.
  Tensor any(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// bool: whether no element is 0. True for no elements.
  Tensor all(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;
  /// int64 index of the first largest element along one axis, or in the flattened tensor; the first NaN wins.
  Tensor argmax(std::optional<int64_t> axis = {}, bool keepdim = false, Loc where = Loc::current()) const;
  /// The same for the smallest element.
  Tensor argmin(std::optional<int64_t> axis = {}, bool keepdim = false, Loc where = Loc::current()) const;
  /// @}

  /// @name Types and devices
  /// @{

  /// The values in another type. Floats are truncated to integers and saturate; NaN becomes 0. A bool is x != 0.
  Tensor to(DType dtype, Loc where = Loc::current()) const;
  /// The values on another device; the original stays valid. UsageError for a device that does not exist.
  Tensor to(Device device, Loc where = Loc::current()) const;
  /// The values in another type on another device.
  Tensor to(Device device, DType dtype, Loc where = Loc::current()) const { return to(dtype, where).to(device, where); }
  /// In the type of another tensor, on its device.
  Tensor to(const Tensor& like, Loc where = Loc::current()) const {
    return to(like.device(where), like.dtype(where), where);
  }
  /// to(Device::cuda(index)).
  Tensor cuda(int index = 0, Loc where = Loc::current()) const;
  /// to(Device::cpu()).
  Tensor cpu(Loc where = Loc::current()) const;
  /// The value, stored: ops that read it do not recompute it. A value that is stored already is returned itself;
  /// clone() copies.
  Tensor contiguous(Loc where = Loc::current()) const;
  /// @}

  /// @name State
  /// Only these write; docs/semantics.md, V. A value that was built before a write is unchanged. Not on temporaries,
  /// whose cell nobody would see: x[0] += 1 does not compile.
  /// @snippet state.cpp state
  /// @{

  /// Makes a new version of this cell: `value`, broadcast to the shape and cast to the dtype within its kind (a float
  /// does not fit an integer). UsageError for a leaf that requires grad, except under no_grad.
  Tensor& assign(Arg value, Loc where = Loc::current()) &;
  /// assign(*this op value).
  Tensor& operator+=(Arg value) &;
  Tensor& operator-=(Arg value) &;  ///< as +=
  Tensor& operator*=(Arg value) &;  ///< as +=
  Tensor& operator/=(Arg value) &;  ///< as +=
  Tensor& operator&=(Arg value) &;  ///< as +=
  Tensor& operator|=(Arg value) &;  ///< as +=
  Tensor& operator^=(Arg value) &;  ///< as +=
  /// A part of this cell that can be written: `x.at({2, Slice{0, 3}}) = v`.
  Place at(std::vector<Index> items, Loc where = Loc::current()) &;
  /// A copy: a cell of its own, and memory of its own once it is realized. Until then, reading it costs nothing.
  Tensor clone(Loc where = Loc::current()) const;
  /// Computes the value now and returns the handle itself. `realize(a, b)` computes several in one plan.
  const Tensor& realize(Loc where = Loc::current()) const;
  Tensor& realize(Loc where = Loc::current());  ///< the same
  /// @}

  /// @name Gradients
  /// docs/semantics.md, G. Gradients as values: gradient().
  /// @snippet gradients.cpp backward
  /// @{

  /// Makes the cell a leaf whose gradient backward() accumulates, or no longer one. UsageError unless the dtype is a
  /// float.
  Tensor& requires_grad(bool on = true, Loc where = Loc::current());
  /// The same, by PyTorch's name.
  Tensor& requires_grad_(bool on = true, Loc where = Loc::current()) { return requires_grad(on, where); }
  /// Makes backward() accumulate the gradient of this value, which is no leaf, in its grad() too.
  void retain_grad(Loc where = Loc::current());
  /// Whether the value is such a leaf, or depends on one.
  bool needs_grad(Loc where = Loc::current()) const;
  /// The value without history.
  Tensor detach(Loc where = Loc::current()) const;
  /// Adds the gradient of this scalar to grad() of every leaf that it depends on. The walked graph is consumed: a
  /// second call is a UsageError unless the first kept the graph.
  void backward(bool keep_graph = false, Loc where = Loc::current()) const;
  /// Rejects a number, which is no flag: a seed is a tensor, as in `backward(Tensor(2.0))`.
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
  void backward(T seed, bool keep_graph = false, Loc where = Loc::current()) const = delete;
  /// The same for a tensor of any shape: `seed`, of its shape and dtype, gives the factor of each element.
  void backward(const Tensor& seed, bool keep_graph = false, Loc where = Loc::current()) const;
  /// The accumulated gradient, of this shape and dtype. UsageError if there is none; the error names the call that took
  /// it.
  Tensor grad(Loc where = Loc::current()) const;
  /// Whether there is a gradient.
  bool has_grad(Loc where = Loc::current()) const;
  /// Replaces the gradient by a tensor of this shape and dtype: `p.set_grad(p.grad() * 0.5)` is what p.grad() *= 0.5 is
  /// elsewhere. A handle to the previous gradient keeps its value.
  void set_grad(const Tensor& grad, Loc where = Loc::current());
  /// Removes the gradient.
  void zero_grad(Loc where = Loc::current());
  /// @}

  /// For the library's own layers: the cell behind the handle.
  const std::shared_ptr<Cell>& cell() const { return cell_; }
  /// A handle to that cell; for the library's own layers.
  explicit Tensor(std::shared_ptr<Cell> cell) : cell_(std::move(cell)) {}

 private:
  static std::shared_ptr<Cell> scalar(Arg value);
  static std::shared_ptr<Cell> scalar(const Dim& size, Loc where);
  std::shared_ptr<Cell> cell_;
};

/// The largest or smallest elements along an axis, a tensor, and their indices: `auto [values, indices] = x.max(1)`.
/// Equal ones share the gradient; the index is that of the first.
class Extremum : public Tensor {
 public:
  /// Of values and int64 indices of one shape.
  Extremum(const Tensor& of, Tensor places) : Tensor(of), values(of), indices(std::move(places)) {}
  Tensor values;   ///< the tensor itself
  Tensor indices;  ///< int64, of the same shape
  /// Parts 0 and 1, for structured bindings.
  template <size_t I>
  const Tensor& get() const {
    return I == 0 ? values : indices;
  }
  /// For std::tie(values, indices) = x.max(1).
  operator std::tuple<Tensor&, Tensor&>() { return {values, indices}; }  // NOLINT: implicit by design
};
template <Integer I>
Extremum Tensor::max(I axis, bool keepdim, Loc where) const {
  return {max(Axes(axis), keepdim, where), argmax(saturated(axis), keepdim, where)};
}
template <Integer I>
Extremum Tensor::min(I axis, bool keepdim, Loc where) const {
  return {min(Axes(axis), keepdim, where), argmin(saturated(axis), keepdim, where)};
}

/// A part of a tensor, returned by `at({...})`: written by `=` and its forms, read by conversion to a Tensor.
class Place {
 public:
  Place(const Place&) = default;  ///< the same place
  /// Writes the value of the other part into this one: `x.at({0}) = y.at({1})`. No member of the Place changes.
  Place& operator=(const Place& value) { return assign(Arg(value)); }  // NOLINT(bugprone-unhandled-self-assignment)
  Place& operator=(Arg value) { return assign(value); }                ///< assign(value)
  Place& operator+=(Arg value);                                        ///< assign(part + value)
  Place& operator-=(Arg value);                                        ///< assign(part - value)
  Place& operator*=(Arg value);                                        ///< assign(part * value)
  Place& operator/=(Arg value);                                        ///< assign(part / value)
  /// `value` is broadcast to the shape of the part, and cast as in Tensor::assign. Integer tensors and bool masks name
  /// elements as in index(); of several values for one element the last stays, and an index out of range throws at the
  /// first host read. A mask is read to the host only if `value` has an element for each place where it is true.
  Place& assign(Arg value);
  /// Adds `value`, broadcast and cast as by assign(), to the part. An element that several indices name takes the sum
  /// of their values, as by scatter_add().
  Place& accumulate(Arg value);
  operator Tensor() const;  ///< the present value of the part  NOLINT

 private:
  friend class Tensor;
  friend class Arg;
  Place(Tensor target, std::vector<Index> items, Loc where);
  Tensor target_;
  std::shared_ptr<const std::vector<Index>> items_;
  Loc where_;
};

/// `length` elements of an axis from `start` on, which is a tensor: its value may change without another program being
/// made, in jit() too. `cache.at({layer, Slice{}, Narrow{position, 1}}) = row` writes the row alone, unless a slice
/// beside it has a step other than 1: then the cache is copied.
struct Narrow {
  Tensor start;    ///< one integer; negative ones count from the end. Out of range throws at the first host read
  Dim length = 1;  ///< number of elements; may be symbolic
};

/// One item of an index: a number, a Slice, a Narrow, newaxis, ellipsis, a tensor of integers, or a bool mask.
class Index {
 public:
  /// The kind of the item.
  enum class Kind : uint8_t { Number, Slice, NewAxis, Ellipsis, Tensor, Narrow };
  /// One element; the axis is dropped.
  template <Integer I>
  Index(I number) : kind(Kind::Number), number(saturated(number)) {}  // NOLINT
  Index(Slice s) : kind(Kind::Slice), slice(s) {}                     ///< part of the axis  NOLINT
  Index(NewAxis) : kind(Kind::NewAxis) {}                             ///< an axis of size 1  NOLINT
  Index(Ellipsis) : kind(Kind::Ellipsis) {}                           ///< all axes that are not named  NOLINT
  Index(const char* dots);                                            ///< "...": ellipsis. UsageError else  NOLINT
  Index(Tensor t)
      : kind(Kind::Tensor), tensor(std::move(t)) {}  ///< the elements at its indices, or where it is true  NOLINT
  Index(Narrow n) : kind(Kind::Narrow), slice{0, n.length}, tensor(std::move(n.start)) {}  ///< part of the axis  NOLINT

  Kind kind;           ///< which of the following is used
  int64_t number = 0;  ///< negative numbers count from the end
  Slice slice = {};    ///< for Kind::Slice; for Kind::Narrow the end is its length
  Tensor tensor = {};  ///< for Kind::Tensor; for Kind::Narrow its start
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
Tensor operator==(Arg a, Arg b);  ///< bool, as the next five; false if either is NaN
Tensor operator!=(Arg a, Arg b);  ///< true if either is NaN
Tensor operator<(Arg a, Arg b);   ///< false if either is NaN
Tensor operator<=(Arg a, Arg b);  ///< false if either is NaN
Tensor operator>(Arg a, Arg b);   ///< false if either is NaN
Tensor operator>=(Arg a, Arg b);  ///< false if either is NaN
Tensor operator&(Arg a, Arg b);   ///< bits of integers, logic of bools; not on floats, as the next three
Tensor operator|(Arg a, Arg b);   ///< or
Tensor operator^(Arg a, Arg b);   ///< exclusive or
Tensor operator~(Arg a);          ///< bool: not
Tensor operator<<(Arg a, Arg b);  ///< integers; shifts by b modulo the number of bits
Tensor operator>>(Arg a, Arg b);  ///< the same; signed types copy the sign
/// @}
/// Writes t.to_string().
std::ostream& operator<<(std::ostream& os, const Tensor& t);

/// Computes all of them in one plan. Empty handles are a UsageError. OutOfMemory and CompileError leave all tensors
/// unchanged.
void realize_all(std::span<const Tensor> tensors, Loc where = Loc::current());
/// The same for `first` and the others. A number is a UsageError.
void realize_all(const Arg& first, std::span<const Tensor> others);
/// The same: realize(a, b, c).
template <std::same_as<Tensor>... T>
void realize(const Arg& first, const T&... others) {
  realize_all(first, std::array<Tensor, sizeof...(T)>{others...});
}

}  // namespace sinter::inline v0

/// An Extremum has two parts.
template <>
struct std::tuple_size<sinter::Extremum> : std::integral_constant<size_t, 2> {};
/// Both are tensors.
template <size_t I>
struct std::tuple_element<I, sinter::Extremum> {
  using type = const sinter::Tensor;  ///< a part
};

// The table of public functions. Each is called on every element type, on odd sizes and on views, elementwise ones also
// on NaN and infinity. Values are compared with the interpreter's and PyTorch's, gradients with differences and
// PyTorch's.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/tensor.h"

namespace surface {

using sinter::DType;
using sinter::Shape;
using sinter::Tensor;
using Tensors = std::vector<Tensor>;

/// An argument of a call: numbers of the element type that is asked for, indices below a bound, or a mask.
struct Input {
  enum class Kind : uint8_t { Numbers, Indices, Mask };
  Input(Shape shape) : shape(std::move(shape)) {}  // NOLINT
  Input(std::initializer_list<sinter::Dim> sizes) : shape(sizes) {}
  Shape shape;
  Kind kind = Kind::Numbers;
  int64_t below = 0;  ///< for indices
};
inline Input indices(Shape shape, int64_t below) {
  Input in(std::move(shape));
  in.kind = Input::Kind::Indices;
  in.below = below;
  return in;
}
inline Input mask(Shape shape) {
  Input in(std::move(shape));
  in.kind = Input::Kind::Mask;
  return in;
}

/// A call of one tensor or several.
class Call {
 public:
  template <class F>
  Call(F f)  // NOLINT
      : f_([f = std::move(f)](const Tensors& x) -> Tensors {
          if constexpr (std::is_convertible_v<decltype(f(x)), Tensor>)
            return {f(x)};
          else
            return f(x);
        }) {}
  Tensors operator()(const Tensors& x) const { return f_(x); }

 private:
  std::function<Tensors(const Tensors&)> f_;
};

/// The element types that a function takes. Others are a UsageError.
enum class Types : uint8_t { All, Numbers, Integers, IntegersAndBool, Floats };
/// How often its results can be differentiated.
enum class Gradients : uint8_t { None, First, Second };

struct Row {
  std::string name;  ///< the function's, or Tensor::name
  Call call;
  std::string torch;  ///< the same in Python, of inputs x, y, z; empty: PyTorch has none, or means another thing
  std::vector<std::vector<Input>> cases;  ///< the inputs of each case
  Types types = Types::All;
  Gradients gradients = Gradients::Second;
  double low = -1, high = 1;  ///< numbers of the inputs
  bool elementwise = false;   ///< also called on shapes of any rank, and on special values
  double tolerance = 1e-5;    ///< of PyTorch's float32 results, relative to those above 1
  /// Where there is no `torch`: which test has the values. Where there is, and special values differ: how.
  std::string because = {};
  /// Numbers at which the gradient of a function of one tensor is PyTorch's too: where it has a kink.
  std::vector<double> kinks = {};
};

/// One wrong call.
struct Refusal {
  const char* name;  ///< the function's, at the head of the text
  std::function<void()> call;
  const char *first, *second;  ///< both values
};

/// The rows of a family. Registers itself.
class Family {
 public:
  Family(std::string name, std::vector<Row> rows, std::vector<Refusal> refusals);
  static const std::vector<const Family*>& all();
  const std::string& name() const { return name_; }
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Refusal>& refusals() const { return refusals_; }

 private:
  std::string name_;
  std::vector<Row> rows_;
  std::vector<Refusal> refusals_;
};

/// A wrong call and both values that its error names.
#define SURFACE_BAD(name, expression, first, second) {name, [] { static_cast<void>(expression); }, first, second}

/// The row of an elementwise function of one tensor.
Row unary(std::string name, Tensor (*f)(sinter::Arg), std::string torch);
/// The same of two tensors that broadcast.
Row binary(std::string name, Tensor (*f)(sinter::Arg, sinter::Arg), std::string torch);

/// The row with numbers of its inputs in another range; with derivatives of another order; of other element types.
Row within(Row row, double low, double high);
Row without_gradients(Row row);
Row differentiable_once(Row row);
Row of_types(Row row, Types types);

/// The element types that a row takes.
bool takes(Types types, DType dtype);
/// That in which a row is compared with PyTorch: float32, or int32 if it takes no floats.
DType main_type(const Row& row);
/// The sizes of a shape that has no symbolic ones.
std::vector<int64_t> sizes_of(const Shape& shape);
/// The numbers of an input, as record_surface.py makes them too: which is its place among the inputs.
std::vector<double> numbers_of(const Row& row, const Input& input, int which);
/// The inputs of a case in an element type.
Tensors inputs_of(const Row& row, const std::vector<Input>& given, DType dtype);

}  // namespace surface

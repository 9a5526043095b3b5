// Creation: the user's numbers become Data nodes that own a buffer; patterns become constants and ARANGE.
#include "sinter/create.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "ir/scalar_eval.h"
#include "runtime/exec/buffer.h"
#include "sinter/elementwise.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

TensorGraph& graph() { return TensorGraph::get(); }

Tensor fill_constant(const Shape& shape, Scalar value, DType dtype, Device device) {
  check_shape(shape);
  check_device(device);
  return wrap(broadcast_to(constant(graph(), value, dtype, device), shape));
}

/// The shape of a nested list, taken from its first elements. flatten() checks that all others agree.
Shape shape_of(const Nested& list) {
  Shape shape;
  for (const Nested* n = &list; n->is_list(); n = &n->items().front()) {
    shape.push_back(n->items().size());
    if (n->items().empty()) break;
  }
  return shape;
}

void flatten(const Nested& list, const Shape& shape, size_t depth, std::vector<const Arg*>& out) {
  if (list.is_list() != (depth < shape.rank()))
    usage_error(
        "the braced list is ragged: numbers and lists stand side by side at depth {}, shape {} so far; "
        "give all rows one shape",
        depth, to_string(shape));
  if (!list.is_list()) return out.push_back(&list.number());
  if (!(shape[depth] == static_cast<int64_t>(list.items().size())))
    usage_error("the braced list is ragged: a list of {} stands beside one of {} at depth {}; give all rows one length",
                list.items().size(), to_string(shape[depth]), depth);
  for (const Nested& item : list.items()) flatten(item, shape, depth + 1, out);
}

int64_t count_of(const Arg& begin, const Arg& end, const Arg& step) {
  if (begin.kind() != Arg::Kind::Float && end.kind() != Arg::Kind::Float && step.kind() != Arg::Kind::Float) {
    for (const Arg* a : {&begin, &end, &step}) number_of(*a, DType::I64);
    if (!step.integer())
      usage_error("a step of 0 never gets from {} to {}; give another step", begin.integer(), end.integer());
    return range_length(begin.integer(), end.integer(), step.integer());
  }
  const double count = std::ceil((end.real() - begin.real()) / step.real());
  if (!(std::abs(count) < 0x1p53))
    usage_error("from {} to {} in steps of {} is no number of elements; give finite bounds and a step that is not 0",
                begin.real(), end.real(), step.real());
  return std::max<int64_t>(0, static_cast<int64_t>(count));
}

}  // namespace

std::shared_ptr<Cell> Tensor::scalar(Arg value) {
  Call call("Tensor", value.where());
  DType t = default_type(value.kind());
  return wrap(operand(value, t)).cell();
}

std::shared_ptr<Cell> Tensor::scalar(const Dim& size, Loc where) {
  const Call call("Tensor", where);
  return wrap(size_node(size, DType::I64, default_device())).cell();
}

void require_count(size_t given, const Shape& shape) {
  check_shape(shape);
  if (given != static_cast<size_t>(shape.numel()))
    usage_error("shape {} holds {} elements, but {} were given; make the shape and the data agree", to_string(shape),
                shape.numel(), given);
}

Tensor from_bytes(const void* data, size_t bytes, DType dtype, const Shape& shape, Device device, Loc where) {
  Call call("from_bytes", where);
  check_usable(dtype);
  check_shape(shape);
  const size_t needed = static_cast<size_t>(shape.numel()) * size_of(dtype);
  if (bytes != needed)
    usage_error(
        "shape {} of {} holds {} elements, {} bytes, but {} bytes were given; make the shape and the data agree",
        to_string(shape), name_of(dtype), shape.numel(), needed, bytes);
  return from_bytes(data, dtype, shape, device, where);
}

Tensor from_bytes(const void* data, DType dtype, const Shape& shape, Device device, Loc where) {
  Call call("from_bytes", where);
  check_usable(dtype);
  check_shape(shape);
  check_device(device);
  auto buffer = runtime::Buffer::allocate(static_cast<size_t>(shape.numel()) * size_of(dtype), device);
  if (dtype == DType::Bool) {  // a byte other than 0 and 1 means true and is stored as 1
    std::vector<uint8_t> truth(buffer->bytes());
    const auto* given = static_cast<const uint8_t*>(data);
    std::transform(given, given + truth.size(), truth.begin(), [](uint8_t b) { return static_cast<uint8_t>(b != 0); });
    buffer->write(truth.data());
  } else {
    buffer->write(data);
  }
  UOp n = graph().make({Op::Data, dtype, shape, {}, {}, device});
  graph().attach_storage(n, buffer.release());
  return wrap(n);
}

Tensor from(const Nested& values, DType dtype, Device device, Loc where) {
  Call call("from", where);
  const Shape shape = shape_of(values);
  std::vector<const Arg*> numbers;
  flatten(values, shape, 0, numbers);
  DType widest = numbers.empty() ? DType::F32 : DType::Bool;
  for (const Arg* a : numbers) widest = promote(widest, default_type(a->kind()));
  const DType t = type_or(dtype, widest);
  std::vector<unsigned char> bytes(numbers.size() * size_of(t));
  for (size_t i = 0; i < numbers.size(); ++i) {
    // Every target is little-endian: the low bytes come first.
    const uint64_t bits = to_bits(t, number_of(*numbers[i], t));
    std::memcpy(bytes.data() + i * size_of(t), &bits, size_of(t));
  }
  return from_bytes(bytes.data(), bytes.size(), t, shape, device, where);
}

Tensor zeros(const Shape& shape, DType dtype, Device device, Loc where) {
  Call call("zeros", where);
  const DType t = type_or(dtype, float32);
  return fill_constant(shape, Scalar::of(t, 0), t, device);
}
Tensor ones(const Shape& shape, DType dtype, Device device, Loc where) {
  Call call("ones", where);
  const DType t = type_or(dtype, float32);
  return fill_constant(shape, Scalar::of(t, 1), t, device);
}

Tensor full(const Shape& shape, Arg value, DType dtype, Device device) {
  Call call("full", value.where());
  check_shape(shape);
  check_device(device);
  const DType t = type_or(dtype, common_type({&value}));
  UOp n = operand(value, t);
  if (n->rank())
    usage_error("the value is {} and must be one number to fill {}; use expand for more", describe(n),
                to_string(shape));
  return wrap(broadcast_to(on_device(n, device, shape), shape));
}

Tensor empty(const Shape& shape, DType dtype, Device device, Loc where) {
  const OuterCall call("empty", where);
  return zeros(shape, dtype, device, where);
}
Tensor empty_like(Arg x, DType dtype) {
  const OuterCall call("empty_like", x.where());
  return zeros_like(x, dtype);
}
Tensor zeros_like(Arg x, DType dtype) {
  Call call("zeros_like", x.where());
  return full_like(x, 0, dtype);
}
Tensor ones_like(Arg x, DType dtype) {
  Call call("ones_like", x.where());
  return full_like(x, 1, dtype);
}
Tensor full_like(Arg x, Arg value, DType dtype) {
  Call call("full_like", x.where());
  UOp n = operand(x);
  return full(n->shape, value, dtype == DType::Void ? n->dtype : dtype, n->device);
}

Tensor arange(const Dim& end, DType dtype, Device device, Loc where) {
  Call call("arange", where);
  check_shape({end});
  check_device(device);
  return wrap(cast(arange(graph(), end, device), type_or(dtype, int64)));
}

Tensor arange(Arg begin, Arg end, DType dtype, Device device) { return arange(begin, end, 1, dtype, device); }
Tensor arange(Arg begin, Arg end, Arg step, DType dtype, Device device) {
  Call call("arange", begin.where());
  for (const Arg* a : {&begin, &end, &step}) number_of(*a, DType::F64);
  const int64_t count = count_of(begin, end, step);
  check_shape({count});
  check_device(device);
  const DType natural = common_type({&begin, &end, &step}), t = type_or(dtype, is_bool(natural) ? int64 : natural);
  UOp i = arange(graph(), count, device);
  if (is_float(natural)) {
    i = cast(i, DType::F64);
    return wrap(cast(i * step.real() + begin.real(), t));
  }
  return wrap(cast(i * like(i, Scalar::of(int64, step.integer())) + like(i, Scalar::of(int64, begin.integer())), t));
}

Tensor linspace(Arg begin, Arg end, int64_t count, DType dtype, Device device) {
  Call call("linspace", begin.where());
  for (const Arg* a : {&begin, &end}) number_of(*a, DType::F64);
  const DType t = type_or(dtype, float32);
  if (count < 0) usage_error("{} numbers from {} to {}; the count is 0 or more", count, begin.real(), end.real());
  check_shape({count});
  check_device(device);
  if (count < 2) return full({count}, begin.real(), float64, device).to(t);
  // Computed from both ends inward, so both ends are exact.
  const double step = (end.real() - begin.real()) / static_cast<double>(count - 1);
  UOp place = arange(graph(), count, device);
  UOp i = cast(place, DType::F64);
  UOp first_half = lt(place, like(place, Scalar::of(int64, (count + 1) / 2)));
  UOp values =
      where(first_half, i * step + begin.real(), like(i, end.real()) - (static_cast<double>(count - 1) - i) * step);
  return wrap(cast(values, t));
}

Tensor logspace(Arg begin, Arg end, int64_t count, double base, DType dtype, Device device) {
  Call call("logspace", begin.where());
  const DType t = type_or(dtype, float32);
  return sinter::pow(Arg(base, begin.where()), linspace(begin, end, count, float64, device)).to(t);
}

Tensor eye(int64_t n, int64_t m, DType dtype, Device device, Loc where) {
  Call call("eye", where);
  const DType t = type_or(dtype, float32);
  if (n < 0 || m < -1) usage_error("a matrix of {} rows and {} columns; sizes are 0 or more", n, m);
  const Shape shape{n, m < 0 ? n : m};
  check_shape(shape);
  check_device(device);
  return wrap(cast(eq(position(shape, 0, device), position(shape, 1, device)), t));
}

Tensor number(Arg value, DType dtype, Device device) {
  Call call("number", value.where());
  check_usable(dtype);
  check_device(device);
  return wrap(launch_argument(number_of(value, dtype), dtype, device));
}

}  // namespace sinter::inline v0

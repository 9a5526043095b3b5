// Dtype promotion and broadcasting of arguments.
#include "tensor/core/operands.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/dump.h"
#include "ir/matmul_precision.h"

namespace sinter::tensor {
namespace {

/// That in which the open call takes it.
DType type_of(const Arg& a) {
  return a.kind() == Arg::Kind::Tensor ? autocast_type(node_of(a.cell())->dtype) : default_type(a.kind());
}

/// Whether a number of the C++ program is a value of the dtype. Integer dtypes need a whole number in range. Floats
/// round, and bools test for 0, so both accept every number.
bool fits(DType dtype, const Arg& a) {
  if (is_float(dtype) || is_bool(dtype)) return true;
  if (a.kind() == Arg::Kind::Float) {
    const double x = a.real(), above = std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)) - !is_unsigned(dtype));
    return x == std::floor(x) && x < above && x >= (is_unsigned(dtype) ? 0.0 : -above);
  }
  if (a.kind() == Arg::Kind::Unsigned) return dtype == DType::U64;
  if (dtype == DType::U64) return a.integer() >= 0;
  return Scalar::of(dtype, a.integer()).as_int() == a.integer();
}

/// The range of an integer dtype.
std::string range_of(DType dtype) {
  const auto bits = 8 * size_of(dtype) - !is_unsigned(dtype);
  const uint64_t most = ~uint64_t{0} >> (64 - bits);
  return fmt::format("{} to {}", is_unsigned(dtype) ? 0 : -static_cast<int64_t>(most) - 1, most);
}

}  // namespace

int kind_of(DType dtype) { return is_bool(dtype) ? 0 : is_float(dtype) ? 2 : 1; }

std::string describe(UOp x) { return type_and_shape(x); }

std::string describe(const Arg& a) {
  switch (a.kind()) {
    case Arg::Kind::Tensor: return tensor::describe(node_of(a.cell()));
    case Arg::Kind::Size: return fmt::format("the size {}", to_string(node_of(a.cell())->region()[0].end));
    case Arg::Kind::Bool: return fmt::format("the bool {}", a.integer() != 0);
    case Arg::Kind::Integer: return fmt::format("the number {}", a.integer());
    case Arg::Kind::Unsigned: return fmt::format("the number {}", a.natural());
    case Arg::Kind::Float: return fmt::format("the number {}", a.real());
  }
  throw InternalError("no such kind of argument");
}

DType default_type(Arg::Kind kind) {
  switch (kind) {
    case Arg::Kind::Bool: return DType::Bool;
    case Arg::Kind::Integer:
    case Arg::Kind::Size: return DType::I64;
    case Arg::Kind::Unsigned: return DType::U64;
    default: return DType::F32;
  }
}

DType common_type(Args args) {
  DType tensors = DType::Void, numbers = DType::Bool;
  for (const Arg* a : args) {
    if (a->kind() == Arg::Kind::Tensor)
      tensors = tensors == DType::Void ? type_of(*a) : promote(tensors, type_of(*a));
    else
      numbers = promote(numbers, type_of(*a));
  }
  return tensors == DType::Void || kind_of(numbers) > kind_of(tensors) ? numbers : tensors;
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::F64: return 0x1p-52;
    case DType::F16: return 0x1p-10;
    case DType::BF16: return 0x1p-7;
    default: return 0x1p-23;
  }
}

DType common_float_type(Args args) {
  DType t = common_type(args);
  return is_float(t) ? t : DType::F32;
}
void as_factors(UOp& x, UOp& y) {
  x = to_compute_type(x), y = to_compute_type(y);
  if (!allows_tf32() || x->dtype != DType::F32 || y->dtype != DType::F32) return;
  const UOp a = widened_source(below_movements(x)), b = widened_source(below_movements(y));
  if (a && b && a->dtype == b->dtype) return;
  x = tf32(x), y = tf32(y);
}
UOp float_operand(const Arg& x, DType dtype) {
  if (dtype == DType::Void) return operand(x, common_float_type({&x}));
  check_usable(dtype);
  if (!is_float(dtype))
    usage_error("the type {} holds no fractions, which this gives of {}; give a float type", name_of(dtype),
                describe(x));
  return operand(x, dtype);
}

void check_usable(DType dtype) {
  if (dtype == DType::Index || dtype == DType::Void)
    usage_error("{} is no type of elements; give float32, int64, bool or the like", name_of(dtype));
  if (is_float(dtype) && size_of(dtype) == 1)
    usage_error("{} is a name only, nothing computes with it; use float16, bfloat16 or float32", name_of(dtype));
}

DType type_or(DType given, DType fallback) {
  DType t = given == DType::Void ? fallback : given;
  check_usable(t);
  return t;
}

void check_shape(const Shape& shape) {
  for (const Dim& d : shape)
    if (d.value() < 0)
      usage_error("shape {} has the negative size {}; sizes are 0 or more", to_string(shape), d.value());
  if (!shape.countable()) usage_error("shape {} has more than 2^56 elements; take smaller sizes", to_string(shape));
}

int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

std::string mismatch_hint(const Dim& x, const Dim& y, std::string_view otherwise) {
  if (!x.symbolic() && !y.symbolic()) return std::string(otherwise);
  return x.symbolic() && y.symbolic() && x.var() == y.var()
             ? "a Var has one value in a program, bind it to the same number in both"
             : "a symbolic size matches only itself and 1, give both tensors the same Var";
}
std::string mismatch_hint(const Shape& a, const Shape& b, std::string_view otherwise) {
  for (size_t i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const Dim &x = a[a.rank() - i], &y = b[b.rank() - i];
    if (!(x == y) && (x.symbolic() || y.symbolic())) return mismatch_hint(x, y, otherwise);
  }
  return std::string(otherwise);
}

Shape common_shape(const Shape& a, const Shape& b) {
  Shape common(common_sizes(a.dims(), b.dims(), [&](const Dim& x, const Dim& y, size_t axis) {
    usage_error("shapes {} and {} do not broadcast: {} against {} in axis {}; {}", to_string(a), to_string(b),
                to_string(x), to_string(y), axis,
                mismatch_hint(x, y, "sizes must be equal or 1, reshape or expand one of them"));
  }));
  check_shape(common);
  return common;
}

Scalar number_of(const Arg& a, DType dtype) {
  if (a.is_tensor()) usage_error("needs a plain number here, which {} is not", describe(a));
  if (!fits(dtype, a))
    usage_error("{} does not fit {}, which holds {}{}; {}", describe(a), name_of(dtype),
                a.kind() == Arg::Kind::Float ? "whole numbers from " : "", range_of(dtype),
                a.kind() == Arg::Kind::Float ? "round it, or choose a float type"
                                             : "choose a dtype that holds it, to(int64) converts a tensor");
  if (a.kind() == Arg::Kind::Float) return Scalar::of(dtype, a.real());
  return a.kind() == Arg::Kind::Unsigned ? Scalar::of(dtype, a.natural()) : Scalar::of(dtype, a.integer());
}

UOp operand(const Arg& a, DType dtype) {
  if (a.is_tensor()) return cast(node_of(a.cell()), dtype);
  return constant(TensorGraph::get(), number_of(a, dtype), dtype, default_device());
}
UOp operand(const Arg& a) { return operand(a, type_of(a)); }

void broadcast(std::span<UOp> nodes) {
  unify_devices(nodes);
  const std::span others = nodes.subspan(1);
  if (std::ranges::all_of(others, [&](UOp n) { return n->shape == nodes[0]->shape; })) return;
  Shape shape = nodes[0]->shape;
  for (UOp n : others) shape = common_shape(shape, n->shape);
  for (UOp& n : nodes) n = broadcast_to(n, shape);
}

Sources operands(Args args, DType dtype) {
  auto nodes = mapped<Sources>(args, [&](const Arg* a) { return operand(*a, dtype); });
  broadcast(nodes);
  return nodes;
}

UOp broadcast_to_part(UOp value, UOp target, const Shape& part) {
  const UOp v = on_device(value, target->device, target->shape);
  if (v->rank() > part.rank() || common_shape(v->shape, part) != part)
    usage_error("a value of shape {} does not broadcast to the shape {} that is assigned; reshape or reduce it first",
                to_string(v->shape), to_string(part));
  return broadcast_to(v, part);
}

void require_type(bool allowed, const Arg& x, std::string_view what) {
  if (!allowed) usage_error("needs {}, got {}; convert it with to(dtype)", what, describe(x));
}

}  // namespace sinter::tensor

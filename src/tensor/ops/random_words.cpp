#include "tensor/ops/random_words.h"

#include <cmath>
#include <numbers>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter::tensor {

RandomWords::RandomWords(const Shape& shape, const RandomOptions& options, int per_element) {
  check_shape(shape);
  check_device(options.device);
  Generator& generator = options.generator ? *options.generator : default_generator();
  auto [seed, first] = generator.take(static_cast<uint64_t>(shape.numel()) * static_cast<uint64_t>(per_element));
  auto argument = [&](uint64_t value) {
    return launch_argument(Scalar::of(DType::U64, static_cast<int64_t>(value)), DType::U64, options.device);
  };
  const UOp key = argument(seed), counter = argument(first);
  if (Observer* observer = Observer::current())
    observer->on_draw(generator, shape, static_cast<uint64_t>(per_element), key, counter);
  key_ = broadcast_to(key, shape);
  counter_ = cast(flat_position(shape, options.device), DType::U64) + broadcast_to(counter, shape);
}

UOp RandomWords::get(int n) const {
  if (n == 0) return alu(Op::Threefry, {counter_, key_});
  const Shape& shape = counter_->shape;
  const auto times = [&](UOp x, int64_t by) { return x * like(x, Scalar::of(DType::U64, by)); };
  const UOp offset = shape.symbolic()
                         ? broadcast_to(times(count_of(counter_, ir::all_axes(shape.rank()), DType::U64), n), shape)
                         : like(counter_, Scalar::of(DType::U64, shape.numel() * n));
  return alu(Op::Threefry, {counter_ + offset, key_});
}

namespace {

UOp high_bits(UOp word, int count) { return alu(Op::Shr, {word, like(word, Scalar::of(DType::U64, 64 - count))}); }

int digits_of(DType dtype) {
  switch (dtype) {
    case DType::F64: return 53;
    case DType::F16: return 11;
    case DType::BF16: return 8;
    default: return 24;
  }
}

/// The highest bits as a whole number.
UOp whole_of(UOp word, int bits, DType dtype) {
  UOp number = high_bits(word, bits);
  if (dtype != DType::F64) number = cast(number, DType::U32);  // 32-bit conversions are faster
  return cast(number, dtype);
}

UOp box_muller(UOp radius, UOp angle) {
  return sqrt(log(radius) * -2.0) * alu(Op::Cos, {angle * (2 * std::numbers::pi)});
}

}  // namespace

UOp uniform_of(UOp word, DType dtype) {
  const int bits = digits_of(dtype);
  return whole_of(word, bits, dtype) * std::ldexp(1.0, -bits);
}

UOp open_uniform_of(UOp word, DType dtype) {
  const int bits = digits_of(dtype) - 1;
  return (whole_of(word, bits, dtype) + 0.5) * std::ldexp(1.0, -bits);
}

UOp normal_of(UOp word) {
  // The radius takes all 32 lower bits: 24 would cut the tails at 5.8 standard deviations.
  const UOp radius = (cast(cast(word, DType::U32), float32) + 0.5) * 0x1p-32;
  return box_muller(radius, uniform_of(word, float32));
}

UOp normal_of(UOp first, UOp second) {
  return box_muller(1.0 - uniform_of(first, DType::F64), uniform_of(second, DType::F64));
}

DType float_type(const RandomOptions& options, DType fallback) {
  DType t = type_or(options.dtype, fallback);
  if (!is_float(t)) usage_error("needs a float type, got {}; use randint for integers, float32 otherwise", name_of(t));
  return t;
}

}  // namespace sinter::tensor

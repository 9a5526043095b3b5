// Random numbers: Threefry on counters taken at the call; key and first counter are launch arguments.
#include "sinter/random.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "sinter/create.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter {
inline namespace v0 {

std::pair<uint64_t, uint64_t> GeneratorState::take(uint64_t count) { return {seed, std::exchange(next, next + count)}; }

void Generator::manual_seed(uint64_t seed) {
  const ir::GraphScope lock;
  if (tensor::Observer* observer = tensor::Observer::current()) observer->on_seed();
  *state_ = {seed};
}
Tensor Generator::state(Loc where) const {
  const tensor::Call call("state", where);
  return from(std::vector<uint64_t>{state_->seed, state_->next}, Device::cpu(), where);
}
void Generator::set_state(const Tensor& state, Loc where) {
  const tensor::Call call("set_state", where);
  const ir::UOp n = tensor::node_of(state);
  if (n->dtype != uint64 || n->shape != Shape{2})
    tensor::usage_error(
        fmt::format("the state is {}, and one of a generator uint64 [2]; give what state() gave", tensor::describe(n)));
  if (tensor::Observer* observer = tensor::Observer::current()) observer->on_seed();
  const std::vector<uint64_t> numbers = state.to_vector<uint64_t>(where);
  *state_ = {numbers[0], numbers[1]};
}
std::pair<uint64_t, uint64_t> Generator::take(uint64_t count) {
  const ir::GraphScope lock;
  return state_->take(count);
}
Generator& default_generator() {
  static Generator* generator = new Generator;  // never destroyed: static objects may draw after main
  return *generator;
}
void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }

namespace {

using ir::Scalar;
using ir::UOp;
using tensor::Call;
using tensor::usage_error;
using tensor::wrap;

/// The random words of one call, 64 bits each; `per_element` words for every element.
class RandomWords {
 public:
  RandomWords(const Shape& shape, const RandomOptions& options, int per_element) {
    tensor::check_shape(shape);
    tensor::check_device(options.device);
    numel_ = static_cast<uint64_t>(shape.numel());
    Generator& generator = options.generator ? *options.generator : default_generator();
    auto [seed, first] = generator.take(numel_ * static_cast<uint64_t>(per_element));
    auto argument = [&](uint64_t value) {
      return tensor::launch_argument(Scalar::of(DType::U64, static_cast<int64_t>(value)), DType::U64, options.device);
    };
    const UOp key = argument(seed), counter = argument(first);
    if (tensor::Observer* observer = tensor::Observer::current())
      observer->on_draw(generator, numel_ * static_cast<uint64_t>(per_element), key, counter);
    key_ = ir::broadcast_to(key, shape);
    counter_ = ir::cast(tensor::flat_position(shape, options.device), DType::U64) + ir::broadcast_to(counter, shape);
  }
  /// The n-th word of every element.
  UOp get(int n) const {
    if (n == 0) return ir::alu(ir::Op::Threefry, {counter_, key_});
    Scalar offset = Scalar::of(DType::U64, static_cast<int64_t>(numel_) * n);
    return ir::alu(ir::Op::Threefry, {counter_ + ir::like(counter_, offset), key_});
  }

 private:
  uint64_t numel_;
  UOp key_, counter_;
};

UOp high_bits(UOp word, int count) {
  return ir::alu(ir::Op::Shr, {word, ir::like(word, Scalar::of(DType::U64, 64 - count))});
}

int digits_of(DType dtype) {
  switch (dtype) {
    case DType::F64: return 53;
    case DType::F16: return 11;
    case DType::BF16: return 8;
    default: return 24;
  }
}

/// Uniform in [0, 1). Takes as many bits as the dtype has significand digits, so every value is exact and 1 does not
/// occur.
UOp uniform(UOp word, DType dtype) {
  const int bits = digits_of(dtype);
  UOp number = high_bits(word, bits);
  if (dtype != DType::F64) number = ir::cast(number, DType::U32);  // 32-bit conversions are faster
  return ir::cast(number, dtype) * std::ldexp(1.0, -bits);
}

DType float_type(const RandomOptions& options) {
  DType t = tensor::type_or(options.dtype, float32);
  if (!is_float(t))
    usage_error(fmt::format("needs a float type, got {}; use randint for integers, float32 otherwise", name_of(t)));
  return t;
}

}  // namespace

Tensor rand(const Shape& shape, RandomOptions options, Loc where) {
  Call call("rand", where);
  const DType t = float_type(options);
  return wrap(uniform(RandomWords(shape, options, 1).get(0), t));
}

Tensor randn(const Shape& shape, RandomOptions options, Loc where) {
  Call call("randn", where);
  const DType t = float_type(options);
  UOp radius, angle;
  if (t == DType::F64) {
    RandomWords words(shape, options, 2);
    radius = 1.0 - uniform(words.get(0), t);
    angle = uniform(words.get(1), t);
  } else {
    // Both numbers come from one word. The radius takes all 32 bits: 24 would cut the tails at 5.8 standard deviations.
    UOp word = RandomWords(shape, options, 1).get(0);
    radius = (ir::cast(ir::cast(word, DType::U32), float32) + 0.5) * 0x1p-32;
    angle = uniform(word, float32);
  }
  UOp length = ir::sqrt(ir::log(radius) * -2.0);
  return wrap(ir::cast(length * ir::alu(ir::Op::Cos, {angle * (2 * std::numbers::pi)}), t));
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, RandomOptions options, Loc where) {
  Call call("randint", where);
  const DType t = tensor::type_or(options.dtype, int64);
  if (!is_integer(t)) usage_error(fmt::format("needs an integer type, got {}; use rand for floats", name_of(t)));
  if (low >= high) usage_error(fmt::format("no integer lies in [{}, {}); give low < high", low, high));
  for (int64_t bound : {low, high - 1}) tensor::number_of(Arg(bound), t);
  // The word modulo the size of the range. For ranges below 2^40 the bias is less than one in 2^24.
  const uint64_t size = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  UOp word = RandomWords(shape, options, 1).get(0);
  UOp offset = ir::mod(word, ir::like(word, Scalar::of(DType::U64, static_cast<int64_t>(size))));
  UOp value = ir::cast(offset, DType::I64);
  return wrap(ir::cast(value + ir::like(value, Scalar::of(DType::I64, low)), t));
}

Tensor bernoulli(double p, const Shape& shape, RandomOptions options, Loc where) {
  Call call("bernoulli", where);
  if (!(p >= 0 && p <= 1)) usage_error(fmt::format("the probability {} lies outside [0, 1]; give one inside", p));
  if (options.dtype != DType::Void && options.dtype != boolean)
    usage_error(fmt::format("the result is bool, not {}; convert it with to(dtype)", name_of(options.dtype)));
  UOp u = uniform(RandomWords(shape, options, 1).get(0), float32);
  return wrap(ir::lt(u, ir::like(u, p)));
}

}  // namespace v0
}  // namespace sinter

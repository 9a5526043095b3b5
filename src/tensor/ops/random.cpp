// Random numbers: Threefry on counters taken at the call; key and first counter are launch arguments.
#include "sinter/random.h"

#include "sinter/create.h"
#include "tensor/core/operands.h"
#include "tensor/ops/random_words.h"

namespace sinter::inline v0 {

using namespace tensor;

std::pair<uint64_t, uint64_t> GeneratorState::take(uint64_t count) { return {seed, std::exchange(next, next + count)}; }

void Generator::manual_seed(uint64_t seed) {
  const GraphScope lock;
  if (Observer* observer = Observer::current()) observer->on_seed();
  *state_ = {seed};
}
Tensor Generator::state(Loc where) const {
  const Call call("state", where);
  return from(std::vector<uint64_t>{state_->seed, state_->next}, Device::cpu(), where);
}
void Generator::set_state(const Tensor& state, Loc where) {
  const Call call("set_state", where);
  const UOp n = node_of(state);
  if (n->dtype != uint64 || n->shape != Shape{2})
    usage_error("the state is {}, and one of a generator uint64 [2]; give what state() gave", describe(n));
  if (Observer* observer = Observer::current()) observer->on_seed();
  const std::vector<uint64_t> numbers = state.to_vector<uint64_t>(where);
  *state_ = {numbers[0], numbers[1]};
}
std::pair<uint64_t, uint64_t> Generator::take(uint64_t count) {
  const GraphScope lock;
  return state_->take(count);
}
Generator& default_generator() {
  static Generator* generator = new Generator;  // never destroyed: static objects may draw after main
  return *generator;
}
void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }

Tensor rand(const Shape& shape, RandomOptions options, Loc where) {
  Call call("rand", where);
  const DType t = float_type(options);
  return wrap(uniform_of(RandomWords(shape, options, 1).get(0), t));
}

Tensor randn(const Shape& shape, RandomOptions options, Loc where) {
  Call call("randn", where);
  const DType t = float_type(options);
  const RandomWords words(shape, options, t == DType::F64 ? 2 : 1);
  return wrap(t == DType::F64 ? normal_of(words.get(0), words.get(1)) : cast(normal_of(words.get(0)), t));
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, RandomOptions options, Loc where) {
  Call call("randint", where);
  const DType t = type_or(options.dtype, int64);
  if (!is_integer(t)) usage_error("needs an integer type, got {}; use rand for floats", name_of(t));
  if (low >= high) usage_error("no integer lies in [{}, {}); give low < high", low, high);
  for (int64_t bound : {low, high - 1}) number_of(Arg(bound), t);
  // The word modulo the size of the range. For ranges below 2^40 the bias is less than one in 2^24.
  const uint64_t size = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  UOp word = RandomWords(shape, options, 1).get(0);
  UOp offset = mod(word, like(word, Scalar::of(DType::U64, static_cast<int64_t>(size))));
  UOp value = cast(offset, DType::I64);
  return wrap(cast(value + like(value, Scalar::of(DType::I64, low)), t));
}

Tensor randint(int64_t high, const Shape& shape, RandomOptions options, Loc where) {
  return randint(0, high, shape, options, where);
}

Tensor bernoulli(double p, const Shape& shape, RandomOptions options, Loc where) {
  Call call("bernoulli", where);
  if (!(p >= 0 && p <= 1)) usage_error("the probability {} lies outside [0, 1]; give one inside", p);
  if (options.dtype != DType::Void && options.dtype != boolean)
    usage_error("the result is bool, not {}; convert it with to(dtype)", name_of(options.dtype));
  UOp u = uniform_of(RandomWords(shape, options, 1).get(0), float32);
  return wrap(lt(u, like(u, p)));
}

}  // namespace sinter::inline v0

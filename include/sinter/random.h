// Random numbers from a counter-based generator (Threefry-2x32, 20 rounds): the same on every device and for any number
// of threads. Each call takes its counters when it is made, so realizing a tensor twice gives the same numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// The state of a Generator. Guarded by the tensor graph's mutex; only for generators and jit().
struct GeneratorState {
  uint64_t seed;
  uint64_t next = 0;  ///< next counter
  /// Takes `count` counters. Returns {seed, the first of them}.
  std::pair<uint64_t, uint64_t> take(uint64_t count);
};

/// A seed and the number of counters taken. Safe to share between threads; a generator per thread makes that thread's
/// numbers reproducible.
class Generator {
 public:
  /// Starts at counter 0.
  explicit Generator(uint64_t seed = 0) : state_(std::make_shared<GeneratorState>(GeneratorState{seed})) {}
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  /// Restarts at counter 0 with `seed`.
  void manual_seed(uint64_t seed);
  /// The state {seed, counter}: uint64 [2] on the CPU, which can be saved with a model. It is a copy: later draws do
  /// not change it.
  Tensor state(Loc where = Loc::current()) const;
  /// Continues where state() was taken, of this generator or another: it gives the numbers that followed there. Reads
  /// the tensor. UsageError unless it is uint64 [2].
  /// @snippet training.cpp generator
  void set_state(const Tensor& state, Loc where = Loc::current());
  /// Takes `count` counters. Returns {seed, the first of them}.
  std::pair<uint64_t, uint64_t> take(uint64_t count);
  /// The shared state; lets a jitted function detect that the generator is gone. For the library alone.
  const std::shared_ptr<GeneratorState>& shared() const { return state_; }

 private:
  std::shared_ptr<GeneratorState> state_;
};

/// The generator of calls that name none. Its seed is 0 until manual_seed().
Generator& default_generator();
/// Seeds the default generator.
void manual_seed(uint64_t seed);

/// Options of the calls below.
struct RandomOptions {
  DType dtype = DType::Void;         ///< not given: float32; int64 for randint
  Generator* generator = nullptr;    ///< nullptr: the default one
  Device device = default_device();  ///< where the numbers are made; it does not change them
};

/// @defgroup random Random tensors
/// @snippet creation.cpp random
/// @{

/// Uniform in [0, 1): 24 random bits in float32, 53 in float64, 11 in float16, 8 in bfloat16.
Tensor rand(const Shape& shape, RandomOptions options = {}, Loc where = Loc::current());
/// Standard normal, by the Box-Muller method. A dtype that is not a float is a UsageError here and in rand().
Tensor randn(const Shape& shape, RandomOptions options = {}, Loc where = Loc::current());
/// Uniform integers in [low, high). UsageError unless low < high.
Tensor randint(int64_t low, int64_t high, const Shape& shape, RandomOptions options = {}, Loc where = Loc::current());
/// Uniform integers in [0, high).
Tensor randint(int64_t high, const Shape& shape, RandomOptions options = {}, Loc where = Loc::current());
/// bool, true with probability p in [0, 1]: a dropout mask.
Tensor bernoulli(double p, const Shape& shape, RandomOptions options = {}, Loc where = Loc::current());
/// The same with a probability for each element, in its shape. Outside [0, 1] it counts as 0 or 1.
Tensor bernoulli(const Tensor& p, RandomOptions options = {}, Loc where = Loc::current());
/// rand() in the shape, type and on the device of x; the options' type overrides, their device does not count.
Tensor rand_like(const Tensor& x, RandomOptions options = {}, Loc where = Loc::current());
/// randn() like x.
Tensor randn_like(const Tensor& x, RandomOptions options = {}, Loc where = Loc::current());
/// randint() like x, in the type of x even if that is a float.
Tensor randint_like(const Tensor& x, int64_t low, int64_t high, RandomOptions options = {}, Loc where = Loc::current());
/// The same in [0, high).
Tensor randint_like(const Tensor& x, int64_t high, RandomOptions options = {}, Loc where = Loc::current());
/// @}

/// @defgroup draws Random distributions
/// Each has parameters, numbers or tensors, that broadcast: to their common shape, or to `shape`. Results are float32
/// or the parameters' float type, on their device; options may name another type, and the device only where all
/// parameters are numbers. Gradients go through the parameters wherever the result is a smooth function of them. A
/// number that is no parameter (a negative rate) is a UsageError; in a tensor it gives NaN.
/// @snippet creation.cpp draws
/// @{

/// Uniform in [low, high).
Tensor uniform(Arg low, Arg high, const Shape& shape, RandomOptions options = {});
Tensor uniform(Arg low, Arg high, RandomOptions options = {});  ///< in the shape of the bounds
/// mean + deviation * randn().
Tensor normal(Arg mean, Arg deviation, const Shape& shape, RandomOptions options = {});
Tensor normal(Arg mean, Arg deviation, RandomOptions options = {});  ///< in the shape of the parameters
/// exp(normal(mean, deviation)).
Tensor log_normal(Arg mean, Arg deviation, const Shape& shape, RandomOptions options = {});
Tensor log_normal(Arg mean, Arg deviation, RandomOptions options = {});  ///< in the shape of the parameters
/// Density rate * exp(-rate * x): -log(u) / rate.
Tensor exponential(Arg rate, const Shape& shape, RandomOptions options = {});
Tensor exponential(Arg rate, RandomOptions options = {});  ///< in the shape of the rate
/// The largest of many: location - scale * log(-log(u)).
Tensor gumbel(Arg location, Arg scale, const Shape& shape, RandomOptions options = {});
Tensor gumbel(Arg location, Arg scale, RandomOptions options = {});  ///< in the shape of the parameters
/// Density exp(-|x - location| / scale) / (2 scale).
Tensor laplace(Arg location, Arg scale, const Shape& shape, RandomOptions options = {});
Tensor laplace(Arg location, Arg scale, RandomOptions options = {});  ///< in the shape of the parameters
/// location + scale * tan(pi * (u - 1/2)).
Tensor cauchy(Arg location, Arg scale, const Shape& shape, RandomOptions options = {});
Tensor cauchy(Arg location, Arg scale, RandomOptions options = {});  ///< in the shape of the parameters
/// How many trials until one that succeeds with probability p in (0, 1]: 1, 2, ...
Tensor geometric(Arg p, const Shape& shape, RandomOptions options = {});
Tensor geometric(Arg p, RandomOptions options = {});  ///< in the shape of p
/// Density proportional to x^(concentration - 1) * exp(-rate * x). Marsaglia and Tsang, "A simple method for generating
/// gamma variables" (2000): of 8 proposals the first that is accepted, since counters are taken at the call; all are
/// rejected once in 10^10. No gradient with respect to the concentration.
Tensor gamma(Arg concentration, Arg rate, const Shape& shape, RandomOptions options = {});
Tensor gamma(Arg concentration, Arg rate, RandomOptions options = {});  ///< in the shape of the parameters
/// x / (x + y) of x = gamma(a, 1) and y = gamma(b, 1), without a gradient.
Tensor beta(Arg a, Arg b, const Shape& shape, RandomOptions options = {});
Tensor beta(Arg a, Arg b, RandomOptions options = {});  ///< in the shape of the parameters
/// gamma(concentration, 1) divided by its sum along the last axis, without a gradient.
Tensor dirichlet(const Tensor& concentration, RandomOptions options = {}, Loc where = Loc::current());
/// Whole numbers k with probability rate^k exp(-rate) / k!, in a float type, without a gradient. Below a rate of 10 the
/// distribution function is inverted; from there on Hormann, "The transformed rejection method for generating Poisson
/// random variables" (1993), of 10 proposals the first that is accepted.
Tensor poisson(Arg rate, const Shape& shape, RandomOptions options = {});
Tensor poisson(Arg rate, RandomOptions options = {});  ///< in the shape of the rate
/// int64 [.., count]: classes drawn with replacement, with probabilities proportional to exp(logits), [.., classes].
Tensor categorical(const Tensor& logits, int64_t count, RandomOptions options = {}, Loc where = Loc::current());
/// int64, one class for each row of logits: the logits' shape without the last axis.
Tensor categorical(const Tensor& logits, RandomOptions options = {}, Loc where = Loc::current());
/// int64 [.., count]: classes drawn with probabilities proportional to p, [.., classes]. Without replacement each class
/// comes once. The first host read throws, and the row gives 0, unless all of p are finite and >= 0, with one above 0,
/// or `count` of them without replacement.
Tensor multinomial(const Tensor& p, int64_t count, bool replacement = false, RandomOptions options = {},
                   Loc where = Loc::current());
/// The numbers 0 to n - 1 in random order; int64, or the type that options name.
Tensor randperm(int64_t n, RandomOptions options = {}, Loc where = Loc::current());
/// normal(mean, deviation) under the condition low <= x <= high, by the inverse of the distribution function.
Tensor trunc_normal(Arg mean, Arg deviation, Arg low, Arg high, const Shape& shape, RandomOptions options = {});
Tensor trunc_normal(Arg mean, Arg deviation, Arg low, Arg high,
                    RandomOptions options = {});  ///< in the shape of the parameters
/// @}

}  // namespace sinter::inline v0

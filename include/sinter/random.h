// Random numbers from a counter-based generator (Threefry-2x32, 20 rounds): the same on every device and for any number
// of threads. Each call takes its counters when it is made, so realizing a tensor twice gives the same numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

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
/// bool, true with probability p in [0, 1]: a dropout mask.
Tensor bernoulli(double p, const Shape& shape, RandomOptions options = {}, Loc where = Loc::current());
/// @}

}  // namespace v0
}  // namespace sinter

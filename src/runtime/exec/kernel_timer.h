// One kernel on memory of its own, launched for its time alone: what a search measures with.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/exec/buffer.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/step_cost.h"

namespace sinter::runtime::cpu {

class KernelTimer {
 public:
  /// The launch of `plan`'s step `step` at these values of the plan's variables, whatever device and programs the plan
  /// has. Buffers are as large as their bounds, hold small numbers, and are written again and again. Throws
  /// OutOfMemory.
  KernelTimer(const Plan& plan, size_t step, std::vector<int64_t> vars);
  ~KernelTimer();

  /// A program for that step, ready to be launched.
  class Candidate {
   public:
    ~Candidate();

   private:
    friend class KernelTimer;
    struct State;
    explicit Candidate(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };
  std::unique_ptr<Candidate> prepare(std::shared_ptr<const Program> program) const;

  /// What a launch comes to.
  static const StepCost& cost(const Candidate& candidate);

  /// Median ns of a launch, over rounds of some launches each, after a first one.
  static double time(Candidate& candidate);

  /// The time of `a` over that of `b`: the median over rounds in which one follows the other, so that what disturbs the
  /// machine disturbs both. `b` was given to time() before. Once `a` is clearly above `hoped` times `b`, rounds end
  /// with what they gave.
  static double ratio(Candidate& a, Candidate& b, double hoped);

 private:
  Plan plan_;  ///< of that step alone; it has no program
  std::vector<int64_t> vars_;
  std::vector<uint64_t> args_;
  std::vector<std::unique_ptr<Buffer>> memory_;  ///< per buffer
};

}  // namespace sinter::runtime::cpu

// A Plan is plain data: buffers by number, kernels by number, arguments by number; no pointer into any graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sinter/device.h"
#include "sinter/dtype.h"
#include "sinter/shape.h"

namespace sinter::runtime {

class Program;

/// A size of a plan: `fixed`, or the value of vars[var] at this call.
struct PlanDim {
  int64_t fixed = 0;
  int var = -1;
  int64_t at(const std::vector<int64_t>& vars) const { return var < 0 ? fixed : vars[static_cast<size_t>(var)]; }
};

/// Slot: memory that exists before; slot n is buffer n. Output: new memory that outlives the plan.
/// Scratch: lives from launch `first` to launch `last`. Invariant: from run to run.
struct PlanBuffer {
  enum class Kind : uint8_t { Slot, Output, Scratch, Invariant } kind = Kind::Slot;
  DType dtype = DType::F32;
  std::vector<PlanDim> shape;
  int64_t bound_bytes = 0;  ///< at the bounds of the variables
  int first = 0, last = 0;  ///< launches between which a Scratch is alive
};

/// A kernel of a launch: `program` on `buffers` (by Param slot of the kernel), with sizes `vars` and arguments `args`
/// (numbers of the plan's), then `offsets`.
struct PlanStep {
  int program = 0;
  std::vector<int> buffers;
  std::vector<int> vars;
  std::vector<int> args;
  std::vector<PlanDim> outer;  ///< its tasks are 0 .. product
  std::vector<int> writes;     ///< buffers among `buffers` that the step stores into
  double time = 0;             ///< expected, in ns, beside moving memory: decides how finely threads share it
  /// Arguments that are the same in each run: places in its buffers, by which steps of one program differ.
  std::vector<int64_t> offsets = {};
  /// Steps of one launch that agree in it are sections of one kernel: they may write different elements of one buffer.
  int section_of = -1;
  int position = -1;  ///< of the program: what takes most of its time; -1: not known
};

/// A number that symbolic sizes scale: a sum of products with the kernel's variables.
struct SizePolynomial {
  struct Term {
    double factor;
    std::vector<int> vars;  ///< ascending, of the kernel
  };
  std::vector<Term> terms;
  void add(const Term& term);
  double at(const std::vector<int64_t>& vars) const;
};

/// What one launch of a kernel does.
struct KernelWork {
  SizePolynomial flops;  ///< arithmetic on floats; a fused multiply-add is two, a function such as exp one
  std::vector<SizePolynomial> accesses;  ///< per Param: elements that loads and stores can touch, each access counted
};

struct Plan {
  Device device;                    ///< on which all of it lies and runs
  std::vector<PlanBuffer> buffers;  ///< the slots first
  std::vector<PlanStep> steps;      ///< in order
  std::vector<int> launches;        ///< how many of the next steps each launch runs, side by side
  /// The first launches store what is Invariant: for each of them the slots that decide what. It is not needed while
  /// those hold the same.
  std::vector<std::vector<int>> invariant_launches;
  std::vector<std::shared_ptr<const Program>> programs;
  std::vector<KernelWork> work;  ///< per program
  std::vector<int> outputs;      ///< buffer that holds output i: its home slot when written in place
  bool raises_errors = false;    ///< a kernel may raise bits of the error word
};

/// A line per buffer and per step: what DEBUG=3 prints.
std::string to_string(const Plan& plan);

}  // namespace sinter::runtime

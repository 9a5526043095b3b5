// A Plan is plain data. Buffers, kernels and arguments are numbered; there is no pointer into any graph.
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

/// A size in a plan: `fixed`, or vars[var] of the call.
struct PlanDim {
  int64_t fixed = 0;
  int var = -1;
  int64_t at(const std::vector<int64_t>& vars) const { return var < 0 ? fixed : vars[var]; }
};

/// Slot: existing memory; slot n is buffer n. Output: new memory that outlives the plan. Scratch: alive from launch
/// `first` to launch `last`. Invariant: kept from run to run.
struct PlanBuffer {
  enum class Kind : uint8_t { Slot, Output, Scratch, Invariant } kind = Kind::Slot;
  DType dtype = DType::F32;
  std::vector<PlanDim> shape;
  int64_t bound_bytes = 0;  ///< size at the bounds of the variables
  int first = 0, last = 0;  ///< first and last launch of a Scratch buffer's lifetime
};

/// A kernel of a launch: `program` on `buffers` (by Param slot of the kernel), with sizes `vars` and arguments `args`
/// (both are numbers of the plan's), then `offsets`.
struct PlanStep {
  int program = 0;
  std::vector<int> buffers;
  std::vector<int> vars;
  std::vector<int> args;
  std::vector<PlanDim> outer;  ///< the number of tasks is their product
  std::vector<int> writes;     ///< buffers among `buffers` that the step stores to
  double time = 0;   ///< expected compute time in ns without memory transfers; decides the granularity of work sharing
  double price = 0;  ///< expected time in ns, of arithmetic or of memory transfers, whichever is longer
  /// Arguments that are the same in every run: positions in its buffers, in which steps of one program differ.
  std::vector<int64_t> offsets = {};
  /// Steps of one launch with the same value are sections of one kernel. They may write different elements of one
  /// buffer.
  int section_of = -1;
  int position = -1;  ///< position, in the canonical program, of the step's most expensive node; -1: unknown
};

/// A quantity that depends on symbolic sizes: a sum of products with the kernel's variables.
struct SizePolynomial {
  struct Term {
    double factor;
    std::vector<int> vars;  ///< variables of the kernel, ascending
  };
  std::vector<Term> terms;
  void add(const Term& term);
  double at(const std::vector<int64_t>& vars) const;
};

/// The work of one kernel launch.
struct KernelWork {
  SizePolynomial flops;  ///< floating-point operations; a fused multiply-add is two, a function such as exp one
  std::vector<SizePolynomial> accesses;  ///< per Param: elements that loads and stores can touch, each access counted
  bool tensor = false;                   ///< its products join in steps of tensor cores (ir/attr.h)
};

struct Plan {
  Device device;                    ///< holds all memory and runs all launches
  std::vector<PlanBuffer> buffers;  ///< slots first
  std::vector<PlanStep> steps;      ///< in order
  std::vector<int> launches;        ///< per launch, how many of the next steps it runs concurrently
  /// The first launches store Invariant buffers. Per such launch, the slots that determine its results. The launch can
  /// be skipped while those slots hold the same values.
  std::vector<std::vector<int>> invariant_launches;
  std::vector<std::shared_ptr<const Program>> programs;
  std::vector<KernelWork> work;  ///< per program
  std::vector<int> outputs;      ///< buffer of output i; its home slot if written in place
  bool raises_errors = false;    ///< some kernel may set bits of the error word
};

/// Sets the lifetime of every scratch buffer. The steps must be final.
void set_lifetimes(Plan& plan);

/// One line per buffer and per step, as printed by DEBUG=3.
std::string to_string(const Plan& plan);

}  // namespace sinter::runtime

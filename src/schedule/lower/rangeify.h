// Lowers a set of nodes to loops: writes the indices of one kernel of the partition into IR. No movement op survives.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "schedule/fusion/partition.h"

namespace sinter::schedule {

/// The buffers of values, as indices into the plan's buffers.
struct Placement {
  std::vector<int> output_buffers;  ///< per output; its home if stored in place
  std::vector<int> node_buffers;    ///< per node that other kernels read, else -1
  std::map<std::pair<int, int>, std::vector<int>>
      parts;  ///< per (kernel, sum across outer ranges): partial sums of its tasks, per accumulator
};

/// A kernel and its launch arguments.
struct KernelInstance {
  codegen::Kernel kernel;
  std::vector<int> buffers;  ///< per Param: the plan's buffer
  std::vector<int> args;     ///< per Arg: the plan's argument
  std::vector<int> writes;   ///< those of the buffers that it stores into
  UOp invariant_scatter;     ///< null, or a SCATTER whose update is loop-invariant: its index must be stored first
};

/// Numbers ranges, Params and Args in order of first use, and visits commutative operands in an order that does not
/// depend on buffer numbers. Kernels that do the same to other buffers become equal graphs.
class Rangeifier {
 public:
  Rangeifier(const Partition& partition, const Placement& placement);
  KernelInstance kernel(int number);

 private:
  const Partition& partition_;
  const Placement& placement_;
  std::vector<int> member_of_;   ///< per node: the last kernel that evaluates it
  std::vector<uint64_t> blind_;  ///< per node: hash in the current kernel, without buffer and argument numbers
};

}  // namespace sinter::schedule

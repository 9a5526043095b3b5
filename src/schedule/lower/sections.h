// An outer range along which many values lie side by side, as `cat` leaves it: a kernel for each.
#pragma once

#include <unordered_map>
#include <vector>

#include "schedule/lower/rangeify.h"

namespace sinter::schedule {

/// In:  a kernel whose predicates compare an outer range of fixed size with more than a few constants.
/// Out: that kernel, for each section between two neighbouring constants, where every such predicate is known: what it
///      does not want there is gone, with its buffers. The sections store different elements and run side by side. In
///      one kernel each element would be selected among all, in text that grows faster than their number. Any other
///      kernel comes back as it is.
/// Kernels of one body are cut once.
class SectionSplit {
 public:
  std::vector<KernelInstance> of(KernelInstance whole);

 private:
  struct SectionedKernel {
    codegen::Kernel whole;
    std::vector<KernelInstance>
        parts;  ///< with the whole's numbers of Params and Args in place of buffers and arguments
  };
  const SectionedKernel* find(const codegen::Kernel& whole, uint64_t hash) const;

  std::unordered_multimap<uint64_t, SectionedKernel> cuts_;
};

}  // namespace sinter::schedule

// Splits an outer range along which values are concatenated, as by `cat`: one kernel per section.
#pragma once

#include <unordered_map>
#include <vector>

#include "schedule/lower/rangeify.h"

namespace sinter::schedule {

/// In:  a kernel whose predicates compare an outer range of fixed size with more than a few constants.
/// Out: one kernel per section between adjacent constants, where every such predicate is constant. Dead inputs
///      are gone, with their buffers. Sections store different elements and run concurrently. A single kernel would
///      select each element among all inputs, and its text would grow faster than their number. Other kernels are
///      returned as is.
/// Equal kernels are split once.
class SectionSplit {
 public:
  std::vector<KernelInstance> of(KernelInstance whole);

 private:
  struct SectionedKernel {
    codegen::Kernel whole;
    std::vector<KernelInstance> parts;  ///< the Param and Arg numbers of `whole` stand for buffers and arguments
  };
  const SectionedKernel* find(const codegen::Kernel& whole, uint64_t hash) const;

  std::unordered_multimap<uint64_t, SectionedKernel> cuts_;
};

}  // namespace sinter::schedule

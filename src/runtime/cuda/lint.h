// What ptxas reports about the kernels it compiled, as numbers. Tests fail on spilled registers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime::cuda {

/// One kernel in the log of a compilation with -v. Sizes are in bytes.
struct KernelLint {
  std::string name, arch;
  int registers = 0;                      ///< per thread
  int stack = 0;                          ///< per thread
  int spill_stores = 0, spill_loads = 0;  ///< per thread
  int shared = 0;                         ///< statically declared
  friend bool operator==(const KernelLint&, const KernelLint&) = default;
};

/// All kernels and warnings of a log.
struct Lint {
  std::vector<KernelLint> kernels;
  std::vector<std::string> warnings;
};
Lint lint_of(std::string_view log);

}  // namespace sinter::runtime::cuda

// What ptxas says of the kernels that it made, as numbers: tests fail on spilled registers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime::cuda {

/// A kernel in the log of a compilation with -v. Bytes where nothing else is said.
struct KernelLint {
  std::string name, arch;
  int registers = 0;                      ///< of a thread
  int stack = 0;                          ///< of a thread
  int spill_stores = 0, spill_loads = 0;  ///< of a thread
  int shared = 0;                         ///< that the kernel declares itself
  friend bool operator==(const KernelLint&, const KernelLint&) = default;
};

/// All kernels of a log, and its lines that warn.
struct Lint {
  std::vector<KernelLint> kernels;
  std::vector<std::string> warnings;
};
Lint lint_of(std::string_view log);

}  // namespace sinter::runtime::cuda

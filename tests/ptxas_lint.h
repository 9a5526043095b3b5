// What ptxas reports about the kernels it compiled, as numbers. Tests fail on spilled registers.
#pragma once

#include <charconv>
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

/// The number immediately before `words`, or 0.
inline int number_before(std::string_view line, std::string_view words) {
  const size_t end = line.find(words);
  if (end == std::string_view::npos) return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

inline std::string quoted_after(std::string_view line, std::string_view after) {
  const size_t begin = line.find('\'', line.find(after)), end = line.find('\'', begin + 1);
  return begin == std::string_view::npos || end == std::string_view::npos
             ? ""
             : std::string(line.substr(begin + 1, end - begin - 1));
}

inline Lint lint_of(std::string_view log) {
  Lint out;
  while (!log.empty()) {
    const size_t length = log.find('\n');
    const std::string_view line = log.substr(0, length);
    log.remove_prefix(length == std::string_view::npos ? log.size() : length + 1);
    if (line.find("Compiling entry function") != std::string_view::npos) {
      out.kernels.push_back({.name = quoted_after(line, "function"), .arch = quoted_after(line, "for")});
    } else if (line.find("warning") != std::string_view::npos ||
               line.find("Potential Performance Loss") != std::string_view::npos) {
      out.warnings.emplace_back(line);
    } else if (!out.kernels.empty() && line.find("bytes stack frame") != std::string_view::npos) {
      KernelLint& k = out.kernels.back();
      k.stack = number_before(line, " bytes stack frame");
      k.spill_stores = number_before(line, " bytes spill stores");
      k.spill_loads = number_before(line, " bytes spill loads");
    } else if (!out.kernels.empty() && line.find("Used ") != std::string_view::npos) {
      out.kernels.back().registers = number_before(line, " registers");
      out.kernels.back().shared = number_before(line, " bytes smem");
    }
  }
  return out;
}

}  // namespace sinter::runtime::cuda

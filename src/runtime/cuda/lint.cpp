// Parses the lines of a compilation log.
#include "runtime/cuda/lint.h"

#include <charconv>

namespace sinter::runtime::cuda {
namespace {

/// The number immediately before `words`, or 0.
int before(std::string_view line, std::string_view words) {
  const size_t end = line.find(words);
  if (end == std::string_view::npos) return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

std::string quoted(std::string_view line, std::string_view after) {
  const size_t begin = line.find('\'', line.find(after)), end = line.find('\'', begin + 1);
  return begin == std::string_view::npos || end == std::string_view::npos
             ? ""
             : std::string(line.substr(begin + 1, end - begin - 1));
}

}  // namespace

Lint lint_of(std::string_view log) {
  Lint out;
  while (!log.empty()) {
    const size_t length = log.find('\n');
    const std::string_view line = log.substr(0, length);
    log.remove_prefix(length == std::string_view::npos ? log.size() : length + 1);
    if (line.find("Compiling entry function") != std::string_view::npos) {
      out.kernels.push_back({.name = quoted(line, "function"), .arch = quoted(line, "for")});
    } else if (line.find("warning") != std::string_view::npos ||
               line.find("Potential Performance Loss") != std::string_view::npos) {
      out.warnings.emplace_back(line);
    } else if (!out.kernels.empty() && line.find("bytes stack frame") != std::string_view::npos) {
      KernelLint& k = out.kernels.back();
      k.stack = before(line, " bytes stack frame");
      k.spill_stores = before(line, " bytes spill stores");
      k.spill_loads = before(line, " bytes spill loads");
    } else if (!out.kernels.empty() && line.find("Used ") != std::string_view::npos) {
      out.kernels.back().registers = before(line, " registers");
      out.kernels.back().shared = before(line, " bytes smem");
    }
  }
  return out;
}

}  // namespace sinter::runtime::cuda

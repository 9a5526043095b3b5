#include "runtime/base/oom_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "ir/tensor_graph.h"

namespace sinter::runtime {

std::string readable_bytes(uint64_t bytes) {
  if (bytes < 10u << 20) return fmt::format("{} bytes", bytes);
  return fmt::format("{} bytes ({:.1f} MiB)", bytes, static_cast<double>(bytes) / (1 << 20));
}

std::string oom_report() {
  constexpr size_t kMost = 5;
  const ir::GraphTryLock graph;
  if (!graph) return "";
  std::vector<const ir::NodeOrigin*> origins = ir::origins();
  std::erase_if(origins, [](const ir::NodeOrigin* o) { return o->bytes == 0; });
  std::ranges::sort(origins, [](const ir::NodeOrigin* a, const ir::NodeOrigin* b) { return a->bytes > b->bytes; });
  std::string text;
  for (size_t i = 0; i < std::min(kMost, origins.size()); ++i) {
    const ir::NodeOrigin& o = *origins[i];
    text += fmt::format(
        "\n  {} held in {} buffers by {}", readable_bytes(o.bytes), o.buffers,
        o.call.empty() ? "what was made outside of calls" : fmt::format("{} at {}:{}", o.call, o.file, o.line));
  }
  return text;
}

}  // namespace sinter::runtime

// The memory report, made of call sites and the allocators' figures, and its text.
#include "sinter/memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>
#include <string_view>
#include <tuple>

#include "ir/tensor_graph.h"
#include "runtime/cpu/float_control.h"
#include "runtime/cpu/host_allocator.h"
#include "runtime/cuda/context.h"

namespace sinter::inline v0::memory {
namespace {

/// "917 B", "3.1 MiB".
std::string readable(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const runtime::cpu::DefaultFloatEnv floats;
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string call_site(const Origin& o) {
  if (o.call.empty()) return "outside of calls";
  return fmt::format("{} at {}:{}", o.call, std::string_view(o.file).substr(o.file.rfind('/') + 1), o.line);
}

}  // namespace

Report report() {
  const ir::GraphScope scope;
  Report out;
  for (const ir::NodeOrigin* o : ir::origins()) {
    if (!o->nodes && !o->buffers && !o->tensors) continue;
    out.origins.push_back({o->call, o->file, o->line, o->function, o->bytes, o->buffers, o->tensors, o->nodes});
    out.bytes += o->bytes;
    out.buffers += o->buffers;
    out.tensors += o->tensors;
    out.nodes += o->nodes;
  }
  std::ranges::sort(out.origins, [](const Origin& a, const Origin& b) {
    return std::tie(b.bytes, b.nodes, a.file, a.line, a.call) < std::tie(a.bytes, a.nodes, b.file, b.line, b.call);
  });
  const runtime::cpu::HostMemoryStats cpu = runtime::cpu::memory_stats();
  out.devices.push_back({Device::cpu(), cpu.live, cpu.peak, cpu.cached, cpu.limit});
  for (const auto& gpu : runtime::cuda::contexts()) {
    const runtime::cuda::DeviceMemoryStats s = gpu->allocator().stats();
    out.devices.push_back({Device::cuda(gpu->index()), s.live, s.peak, s.cached, s.limit});
  }
  return out;
}

std::string to_string(const Report& r) {
  std::string text =
      fmt::format("{} in {} buffers, {} tensors, {} nodes\n", readable(r.bytes), r.buffers, r.tensors, r.nodes);
  for (const DeviceUse& d : r.devices)
    text += fmt::format("{}: allocated {}, peak {}, pooled {}, limit {}\n", to_string(d.device), readable(d.allocated),
                        readable(d.peak), readable(d.pooled), readable(d.limit));
  if (r.origins.empty()) return text;
  text += fmt::format("{:>12}{:>9}{:>9}{:>9}  made by\n", "bytes", "buffers", "tensors", "nodes");
  for (const Origin& o : r.origins)
    text += fmt::format("{:>12}{:>9}{:>9}{:>9}  {}\n", readable(o.bytes), o.buffers, o.tensors, o.nodes, call_site(o));
  return text;
}

std::ostream& operator<<(std::ostream& os, const Report& r) { return os << to_string(r); }

void release_pool() {
  runtime::cpu::release_cached_memory();
  for (const auto& gpu : runtime::cuda::contexts())
    if (!gpu->lost()) gpu->allocator().release();
}

}  // namespace sinter::inline v0::memory

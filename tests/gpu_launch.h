// One launch of a kernel for GPUs on memory of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/cuda/image.h"
#include "runtime/exec/array.h"
#include "runtime/program/program.h"
#include "sinter/error.h"

/// What the error word and then each of the arrays hold after all phases of a program, begun with what `arrays` hold;
/// these stay as they are. `numbers`: sizes and arguments. The memory comes from no pool: whatever lies behind its last
/// byte is out of bounds. Throws BackendError for a fault; what was taken is then lost with the context.
inline std::vector<sinter::runtime::PoolVector<std::byte>> launched(sinter::runtime::cuda::Context& gpu,
                                                                    const sinter::runtime::Program& program,
                                                                    int64_t points,
                                                                    const std::vector<sinter::runtime::Array>& arrays,
                                                                    std::span<const uint64_t> numbers) {
  std::vector<uint64_t> parameters;
  auto place = [&](size_t bytes) {
    sinter::runtime::cuda::DevicePointer memory = 0;
    gpu.check(gpu.driver().mem_alloc(&memory, std::max<size_t>(bytes, 1)), "taking memory");
    return parameters.emplace_back(memory);
  };
  gpu.fill(place(sizeof(uint32_t)), 0, sizeof(uint32_t));
  for (const sinter::runtime::Array& a : arrays) gpu.copy_to_device(place(a.data.size()), a.data.data(), a.data.size());
  const sinter::runtime::cuda::LoadedKernel& kernel = program.image()->load_on(gpu);
  if (program.scratch()) place(static_cast<size_t>(program.scratch() * std::max(points, kernel.epilogue_blocks)));
  if (kernel.takes_tickets) gpu.fill(place(sizeof(uint32_t)), 0, sizeof(uint32_t));
  const size_t places = parameters.size();
  parameters.insert(parameters.end(), numbers.begin(), numbers.end());
  gpu.launch(kernel.main, points, parameters);
  if (kernel.epilogue) gpu.launch(*kernel.epilogue, kernel.epilogue_blocks, parameters);
  uint32_t next_ticket = 0;
  if (kernel.takes_tickets) gpu.copy_to_host(&next_ticket, parameters[places - 1], sizeof next_ticket);
  std::vector<sinter::runtime::PoolVector<std::byte>> out;
  for (size_t i = 0; i <= arrays.size(); ++i) {
    out.emplace_back(i ? arrays[i - 1].data.size() : sizeof(uint32_t));
    gpu.copy_to_host(out.back().data(), parameters[i], out.back().size());
  }
  for (size_t i = 0; i < places; ++i) gpu.driver().mem_free(parameters[i]);
  if (next_ticket) throw sinter::InternalError("the tickets of a launch do not begin at 0 again");
  return out;
}

// On the CPU, pieces go directly into the tensor's memory. For a GPU, they go through a small staging buffer.
#include "tensor/eval/uninitialized.h"

#include <algorithm>
#include <vector>

#include "runtime/exec/devices.h"
#include "tensor/core/operands.h"

namespace sinter::tensor {
namespace {

constexpr size_t kStagingBytes = 4 << 20;  ///< size of the staging buffer

/// A byte other than 0 and 1 means true and is stored as 1.
void normalize_bools(std::span<std::byte> bytes) {
  for (std::byte& b : bytes) b = std::byte{b != std::byte{0}};
}

}  // namespace

UninitializedTensor::UninitializedTensor(DType dtype, const Shape& shape, Device device)
    : dtype_(dtype), shape_(shape) {
  check_usable(dtype);
  check_shape(shape);
  check_device(device);
  memory_ = runtime::Buffer::allocate(static_cast<size_t>(shape.numel()) * size_of(dtype), device);
}

Tensor UninitializedTensor::fill(const ReadPiece& read) {
  const bool here = memory_->device() == Device::cpu();
  std::vector<std::byte> staged(here ? 0 : std::min(memory_->bytes(), kStagingBytes));
  for (size_t done = 0; done < memory_->bytes();) {
    std::byte* const target = memory_->as<std::byte>() + done;
    const std::span<std::byte> piece = here ? std::span(target, memory_->bytes())
                                            : std::span(staged).first(std::min(staged.size(), memory_->bytes() - done));
    read(piece);
    if (dtype_ == DType::Bool) normalize_bools(piece);
    if (!here) runtime::copy(memory_->device(), target, Device::cpu(), piece.data(), piece.size());
    done += piece.size();
  }
  const GraphScope scope;
  TensorGraph& graph = TensorGraph::get();
  const UOp node = graph.make({Op::Data, dtype_, shape_, {}, {}, memory_->device()});
  graph.attach_storage(node, memory_.release());
  return wrap(node);
}

}  // namespace sinter::tensor

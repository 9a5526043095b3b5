// Memory for tensors that a file reader fills. All memory is allocated before the first byte is read, and filled in
// pieces. So a file is not held twice, and not read when memory does not suffice.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "runtime/exec/buffer.h"
#include "sinter/tensor.h"

namespace sinter::tensor {

class UninitializedTensor {
 public:
  /// UsageError for an invalid dtype, shape or device; OutOfMemory.
  UninitializedTensor(DType dtype, const Shape& shape, Device device);

  /// Writes the next bytes of the tensor, row-major. Fills all of `piece`.
  using ReadPiece = std::function<void(std::span<std::byte> piece)>;
  /// The tensor. Calls `read` as often as needed. Call once.
  Tensor fill(const ReadPiece& read);

 private:
  std::unique_ptr<runtime::Buffer> memory_;
  DType dtype_;
  Shape shape_;
};

}  // namespace sinter::tensor

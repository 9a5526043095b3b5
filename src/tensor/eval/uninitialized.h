// Memory of tensors to come, for readers of files: all of it is taken before the first byte is read, and filled in
// pieces, so that a file is neither held twice nor read in vain.
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
  /// UsageError for a dtype, a shape or a device that no tensor has; OutOfMemory.
  UninitializedTensor(DType dtype, const Shape& shape, Device device);

  /// Writes the next bytes of the tensor, row-major, into all of `piece`.
  using ReadPiece = std::function<void(std::span<std::byte> piece)>;
  /// The tensor, after as many calls of `read` as it takes. Once.
  Tensor fill(const ReadPiece& read);

 private:
  std::unique_ptr<runtime::Buffer> memory_;
  DType dtype_;
  Shape shape_;
};

}  // namespace sinter::tensor

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

class Blank {
 public:
  /// UsageError for a dtype, a shape or a device that no tensor has; OutOfMemory.
  Blank(DType dtype, const Shape& shape, Device device);

  /// Writes the next bytes of the tensor, row-major, into all of `piece`.
  using Next = std::function<void(std::span<std::byte> piece)>;
  /// The tensor, after as many calls of `next` as it takes. Once.
  Tensor fill(const Next& next);

 private:
  std::unique_ptr<runtime::Buffer> memory_;
  DType dtype_;
  Shape shape_;
};

}  // namespace sinter::tensor

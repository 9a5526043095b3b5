// The symbolic sizes of a call of a jitted function, and shapes in terms of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sinter/tensor.h"

namespace sinter::tensor {

/// A size as one of a call's; if it is none of these, the size itself.
struct CapturedSize {
  Dim dim;
  int32_t number = -1;  ///< among the sizes of the call
  /// Whether both are the same in every call. The variables of a number are equal, as the inputs' axes are.
  friend bool operator==(const CapturedSize& a, const CapturedSize& b) {
    return a.number == b.number && (a.number >= 0 || a.dim == b.dim);
  }
};
using CapturedShape = std::vector<CapturedSize>;

/// The variables that the inputs' axes and the given sizes are bound to, in the order in which they come, each value of
/// each variable once.
class CallSizes {
 public:
  CallSizes(std::span<const Tensor> inputs, std::span<const Dim> given);

  std::span<const Dim> all() const { return all_; }
  CapturedSize capture(const Dim& dim) const;
  CapturedShape capture(const Shape& shape) const;
  /// What a captured size is in this call.
  const Dim& at(const CapturedSize& size) const {
    return size.number < 0 ? size.dim : all_[static_cast<size_t>(size.number)];
  }
  Shape at(const CapturedShape& shape) const;
  /// Whether `dims` have the same fixed sizes and variables, and are equal where those were.
  bool match(const CapturedShape& shape, std::span<const Dim> dims) const;

 private:
  void add(const Dim& dim);
  std::vector<Dim> all_;
};

}  // namespace sinter::tensor

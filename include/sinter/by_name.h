// Options that are given by name alone.
#pragma once

namespace sinter::inline v0 {

/// The first member of options that are given by name: {.stride = 2}. `{2, 2}`, for PyTorch a stride along two axes,
/// would be a stride and a padding; it does not compile.
struct ByName {
  explicit ByName() = default;
};

}  // namespace sinter::inline v0

// The notice that a jitted function has a program for each value of a symbolic size, and not one for all.
#pragma once

#include <span>

#include "sinter/tensor.h"

namespace sinter::tensor {

/// Prints a notice on stderr, once per call site of jit(): the line, the size of which the function makes a number of
/// the C++ program, and what to do. `before` and `now` are the symbolic sizes of two calls that built different
/// programs; one of them differs. SINTER_NOTICES=0 disables it. Inside the Call of a jitted function.
void notice_by_size(std::span<const Dim> before, std::span<const Dim> now);

}  // namespace sinter::tensor

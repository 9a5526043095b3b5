// Text of arrays as NumPy prints them.
#pragma once

#include <string>

#include "runtime/exec/array.h"

namespace sinter::tensor {

/// NumPy's str() of the array with default options: 8 digits, lines of 75 columns. Arrays of more than 1000 elements
/// show the first and last 3 of each axis.
std::string format_array(const runtime::Array& array);

}  // namespace sinter::tensor

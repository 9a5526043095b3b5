// Whether a range has an element.
#pragma once

#include <algorithm>

namespace sinter::ir {

template <class Range, class T>
bool contains(const Range& range, const T& element) {
  return std::ranges::find(range, element) != std::ranges::end(range);
}

}  // namespace sinter::ir

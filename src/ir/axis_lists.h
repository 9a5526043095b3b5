// Lists with one entry per axis, as EXPAND adds axes and REDUCE drops them.
#pragma once

#include <numeric>

#include "ir/attr.h"

namespace sinter::ir {

/// The list without the entries of `axes`, which ascend.
template <class List>
List without(const List& list, const Ints& axes) {
  List kept;
  auto next = axes.begin();
  for (size_t i = 0; i < list.size(); ++i)
    if (next != axes.end() && *next == static_cast<int64_t>(i))
      ++next;
    else
      kept.push_back(list[i]);
  return kept;
}
/// The axes 0 .. rank-1.
inline Ints all_axes(size_t rank) {
  Ints all(rank);
  std::iota(all.begin(), all.end(), 0);
  return all;
}
/// The axes 0 .. rank-1 without `axes`.
inline Ints others(size_t rank, const Ints& axes) { return without(all_axes(rank), axes); }
inline Shape without(const Shape& shape, const Ints& axes) { return Shape(without(shape.dims(), axes)); }

/// Inserts entry(axis) at each of `axes`, which ascend and count in the returned list.
template <class List, class Entry>
List with_axes(List list, const Ints& axes, Entry entry) {
  for (int64_t a : axes) list.insert(list.begin() + a, entry(a));
  return list;
}

}  // namespace sinter::ir

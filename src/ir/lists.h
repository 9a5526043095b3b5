// Lists made of other lists, element by element.
#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace sinter::ir {

/// f of each element of the range, in order: a List, or a vector of what f returns.
template <class List = void, class Range, class F>
auto mapped(const Range& range, F f) {
  using Value = std::decay_t<std::invoke_result_t<F&, decltype(*std::begin(range))>>;
  std::conditional_t<std::is_void_v<List>, std::vector<Value>, List> list;
  if constexpr (requires { list.reserve(std::size(range)); }) list.reserve(std::size(range));
  for (const auto& element : range) list.push_back(std::invoke(f, element));
  return list;
}

/// The elements of the range for which keep() holds: a List, or a vector.
template <class List = void, class Range, class F>
auto filtered(const Range& range, F keep) {
  using Value = std::decay_t<decltype(*std::begin(range))>;
  std::conditional_t<std::is_void_v<List>, std::vector<Value>, List> list;
  for (const auto& element : range)
    if (std::invoke(keep, element)) list.push_back(element);
  return list;
}

}  // namespace sinter::ir

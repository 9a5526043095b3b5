// For authors of layers: a scope that makes errors inside a layer report the layer's caller.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include "sinter/arg.h"

namespace sinter::inline v0 {

/// While alive, a UsageError of any call by this thread names `name` and `where`. The outermost of nested scopes
/// counts. It leaves the float environment alone: the functions called inside set what they need.
class CallScope {
 public:
  CallScope(std::string_view name, Loc where);  ///< opens it; `name` must outlive it
  template <std::same_as<std::string> S>
  CallScope(S&& name, Loc where) = delete;                                            ///< a temporary would be gone
  CallScope(std::string_view name, const Arg& arg) : CallScope(name, arg.where()) {}  ///< at the place of `arg`
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
};

/// The name of a call as an argument of a template.
template <size_t N>
struct CallName {
  consteval CallName(const char (&literal)[N]) { std::copy_n(literal, N, text); }  ///< of that text  NOLINT
  char text[N] = {};                                                               ///< ends with zero
};

}  // namespace sinter::inline v0

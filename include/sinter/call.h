// For authors of layers: a scope that makes errors inside report the caller of the layer.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "sinter/arg.h"

namespace sinter {
inline namespace v0 {

/// While alive, a UsageError of any call that this thread makes names `name` and `where`. Of nested scopes the
/// outermost counts.
class CallScope {
 public:
  CallScope(std::string_view name, Loc where);  ///< opens it; `name` outlives it
  template <std::same_as<std::string> S>
  CallScope(S&& name, Loc where) = delete;                                            ///< a text that would be gone
  CallScope(std::string_view name, const Arg& arg) : CallScope(name, arg.where()) {}  ///< at the place of `arg`
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
};

}  // namespace v0
}  // namespace sinter

// For authors of layers: a scope that makes errors inside report the caller of the layer.
#pragma once

#include <string_view>

#include "sinter/arg.h"

namespace sinter {
inline namespace v0 {

/// While alive, a UsageError of any call that this thread makes names `name` and `where`. Of nested scopes the outermost counts.
class CallScope {
 public:
  CallScope(std::string_view name, Loc where);
  CallScope(std::string_view name, const Arg& arg) : CallScope(name, arg.where()) {}
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
};

}  // namespace v0
}  // namespace sinter

// The type in which a public call computes under autocast. Per thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/short_float.h"
#include "sinter/dtype.h"

namespace sinter::tensor {

/// What a function does with floats of at most 32 bits.
enum class AutocastRule : uint8_t {
  None,
  Narrow,  ///< takes them in the scope's type
  Wide,    ///< takes them in float32
  Inside   ///< takes them as they are: it is part of a function that has a rule
};

/// Of a thread. In the header, as each public call asks for it.
struct AutocastState {
  DType dtype = DType::Void;               ///< the scope's; Void outside of scopes
  AutocastRule rule = AutocastRule::None;  ///< of the open call
};
extern constinit thread_local AutocastState autocast_state;

/// The scope's type; Void outside of scopes.
inline DType autocast_type() { return autocast_state.dtype; }

/// The type in which the open call takes an argument of that type.
inline DType autocast_type(DType given) {
  const AutocastRule rule = autocast_state.rule;
  if (rule == AutocastRule::None || rule == AutocastRule::Inside) return given;
  if (given != DType::F32 && !ir::is_short_float(given)) return given;
  return rule == AutocastRule::Narrow ? autocast_state.dtype : DType::F32;
}

/// What the function of that name does.
AutocastRule autocast_rule(std::string_view name);

/// Opens a public call: its rule holds until it ends. Calls inside one that has a rule have none of their own.
class AutocastCall {
 public:
  explicit AutocastCall(std::string_view name) : before_(autocast_state.rule) {
    if (autocast_state.dtype == DType::Void) return;
    autocast_state.rule = before_ == AutocastRule::None ? autocast_rule(name) : AutocastRule::Inside;
  }
  ~AutocastCall() { autocast_state.rule = before_; }
  AutocastCall(const AutocastCall&) = delete;
  AutocastCall& operator=(const AutocastCall&) = delete;

 private:
  AutocastRule before_;
};

}  // namespace sinter::tensor

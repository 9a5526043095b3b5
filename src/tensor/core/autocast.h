// The type in which a public call computes under autocast. Per thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "sinter/dtype.h"

namespace sinter::tensor {

/// What a function does with floats of at most 32 bits.
enum class AutocastRule : uint8_t {
  None,
  Narrow,  ///< takes them in the scope's type
  Wide,    ///< takes them in float32
  Inside   ///< takes them as they are: it is part of a function that has a rule
};

/// The scope's type; Void outside of scopes.
DType autocast_type();

/// The type in which the open call takes an argument of that type.
DType autocast_type(DType given);

/// Opens a public call: its rule holds until it ends. Calls inside one that has a rule have none of their own.
class AutocastCall {
 public:
  explicit AutocastCall(std::string_view name);
  ~AutocastCall();
  AutocastCall(const AutocastCall&) = delete;
  AutocastCall& operator=(const AutocastCall&) = delete;

 private:
  AutocastRule before_;
};

}  // namespace sinter::tensor

// An option that is one of an enum's values, given by it or by PyTorch's word for it.
#pragma once

#include <concepts>
#include <string_view>

#include "sinter/arg.h"

namespace sinter::inline v0 {

/// A value of an enum, or PyTorch's word for it: `{.mode = ResampleMode::Bilinear}` or `{.mode = "bilinear"}`. Another
/// word is a UsageError that lists the words there are. E is one of the enums of the functions' options.
template <class E>
class Choice {
 public:
  constexpr Choice(E value) : value_(value) {}  ///< the value  NOLINT: implicit by design, as the others
  /// The value of that word. A template, so that 0 is no word.
  template <std::convertible_to<std::string_view> Word>
  Choice(const Word& word, Loc where = Loc::current()) : value_(value_of(word, where)) {}  // NOLINT
  constexpr operator E() const { return value_; }                                          ///< as chosen  NOLINT

 private:
  static E value_of(std::string_view word, Loc where);
  E value_;
};

}  // namespace sinter::inline v0

// A position in a text, and the few operations that parsers need.
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include "sinter/error.h"

namespace sinter::ir {

struct TextCursor {
  std::string_view text;
  std::string place;  ///< prefix of error texts, such as "Opts"
  size_t at = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(place + ": " + what + " at \"" + std::string(text.substr(at, 40)) + "\" in \"" +
                     std::string(text) + "\"");
  }
  void skip_space() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  }
  bool at_end() {
    skip_space();
    return at >= text.size();
  }
  bool peek(std::string_view word) {
    skip_space();
    return text.substr(at).starts_with(word);
  }
  bool consume(std::string_view word) {
    if (!peek(word)) return false;
    at += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!consume(word)) fail("expected \"" + std::string(word) + "\"");
  }
  template <class T>
  T integer() {
    skip_space();
    T value{};
    auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc()) fail("expected a number");
    at = static_cast<size_t>(end - text.data());
    return value;
  }
};

}  // namespace sinter::ir

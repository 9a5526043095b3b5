// A position in a text, and the few operations that both parsers need.
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "ir/attr.h"
#include "sinter/error.h"

namespace sinter::ir {

struct TextCursor {
  std::string_view text;
  std::string place;  ///< prefix of error texts, such as "IR text, line 3"
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
  /// Up to the next of `stops` or a blank. Never empty.
  std::string_view word(std::string_view stops) {
    skip_space();
    const size_t begin = at;
    while (at < text.size() && text[at] != ' ' && text[at] != '\t' && stops.find(text[at]) == std::string_view::npos)
      ++at;
    if (at == begin) fail("expected a word");
    return text.substr(begin, at - begin);
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
  /// A number as dump(Scalar) writes it. A point, an exponent, inf or nan makes it a float.
  Scalar scalar(std::string_view stops) { return number(word(stops)); }
  Scalar number(std::string_view s) {
    if (s == "nan") return Scalar::of(DType::F64, std::numeric_limits<double>::quiet_NaN());
    if (s.starts_with("nan:")) {
      uint64_t bits = 0;
      whole(s, std::from_chars(s.data() + 4, s.data() + s.size(), bits, 16).ptr);
      return Scalar::of(DType::F64, std::bit_cast<double>(bits));
    }
    if (s.find_first_of(".einf") != std::string_view::npos) {
      double value = 0;
      whole(s, std::from_chars(s.data(), s.data() + s.size(), value).ptr);
      return Scalar::of(DType::F64, value);
    }
    int64_t value = 0;
    whole(s, std::from_chars(s.data(), s.data() + s.size(), value).ptr);
    return Scalar::of(DType::I64, value);
  }

 private:
  void whole(std::string_view s, const char* end) const {
    if (s.empty() || end != s.data() + s.size()) fail(std::string(1, '"').append(s).append("\" is no number"));
  }
};

}  // namespace sinter::ir

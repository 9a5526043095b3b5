#include "ir_text/words.h"

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

namespace sinter::ir {
namespace {

void check_end(const TextCursor& c, std::string_view word, const char* end) {
  if (word.empty() || end != word.data() + word.size())
    c.fail(std::string(1, '"').append(word).append("\" is no number"));
}

}  // namespace

std::string_view next_word(TextCursor& c, std::string_view stops) {
  c.skip_space();
  const std::string_view rest = c.text.substr(c.at);
  size_t length = 0;
  while (length < rest.size() && rest[length] != ' ' && rest[length] != '\t' &&
         stops.find(rest[length]) == std::string_view::npos)
    ++length;
  if (length == 0) c.fail("expected a word");
  c.at += length;
  return rest.substr(0, length);
}

Scalar number(const TextCursor& c, std::string_view word) {
  if (word == "nan") return Scalar::of(DType::F64, std::numeric_limits<double>::quiet_NaN());
  const char* const end = word.data() + word.size();
  if (word.starts_with("nan:")) {
    uint64_t bits = 0;
    check_end(c, word, std::from_chars(word.data() + 4, end, bits, 16).ptr);
    return Scalar::of(DType::F64, std::bit_cast<double>(bits));
  }
  if (word.find_first_of(".einf") != std::string_view::npos) {
    double value = 0;
    check_end(c, word, std::from_chars(word.data(), end, value).ptr);
    return Scalar::of(DType::F64, value);
  }
  int64_t value = 0;
  check_end(c, word, std::from_chars(word.data(), end, value).ptr);
  return Scalar::of(DType::I64, value);
}

bool op_named(std::string_view name, Op& op) {
  for (int i = 0; i < kOpCount; ++i)
    if (kOps[i].name == name) return op = static_cast<Op>(i), true;
  return false;
}

}  // namespace sinter::ir

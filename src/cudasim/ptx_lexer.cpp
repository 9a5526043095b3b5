#include "cudasim/ptx_lexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "cudasim/ptx.h"

namespace sinter::runtime::cuda::sim {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_$%.:").find(c) != std::string_view::npos;
}

/// The position after blanks and comments.
size_t skip_blank(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const size_t end = text.find("*/", at);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

}  // namespace

void PtxLexer::advance() {
  begin_ = end_ = skip_blank(text_, end_);
  if (begin_ == text_.size()) {
    word_ = {};
    return;
  }
  if (text_[begin_] == '"') {
    end_ = std::min(text_.find('"', begin_ + 1), text_.size() - 1) + 1;
  } else {
    while (end_ < text_.size() && is_word(text_[end_])) ++end_;
    // A label's colon is a separate word; double colons are part of modifiers.
    while (end_ > begin_ + 1 && text_[end_ - 1] == ':') --end_;
    if (end_ == begin_) ++end_;
  }
  word_ = text_.substr(begin_, end_ - begin_);
}

std::string_view PtxLexer::take() {
  const std::string_view word = word_;
  if (word.empty()) fail("the text ends in the middle of a statement");
  advance();
  return word;
}

bool PtxLexer::accept(std::string_view word) {
  if (word_ != word) return false;
  advance();
  return true;
}

void PtxLexer::expect(std::string_view word) {
  if (!accept(word)) fail(fmt::format("'{}' was expected, '{}' stands here", word, word_));
}

void PtxLexer::skip_line() {
  end_ = std::min(text_.find('\n', begin_), text_.size());
  advance();
}

std::string PtxLexer::text_between(size_t from, size_t to) const {
  std::string out;
  while (from < to) {
    const size_t next = skip_blank(text_, from);
    if (next != from && !out.empty() && next < to) out += ' ';
    if (next >= to) break;
    out += text_[next];
    from = next + 1;
  }
  return out;
}

int PtxLexer::line() const {
  return 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(begin_), '\n'));
}

void PtxLexer::fail(const std::string& reason) const { throw PtxError(fmt::format("PTX line {}: {}", line(), reason)); }

}  // namespace sinter::runtime::cuda::sim

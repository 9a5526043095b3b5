// PTX text -> words. Skips comments and blanks. An opcode with its dots, a number and a one-character punctuation mark
// are one word each.
#pragma once

#include <string>
#include <string_view>

namespace sinter::runtime::cuda::sim {

class PtxLexer {
 public:
  explicit PtxLexer(std::string_view text) : text_(text) { advance(); }

  /// The next word; empty at the end.
  std::string_view peek() const { return word_; }
  std::string_view take();
  /// Takes the next word if it equals `word`.
  bool accept(std::string_view word);
  /// Throws PtxError if the next word differs from `word`.
  void expect(std::string_view word);
  /// Skips the rest of this line.
  void skip_line();

  size_t begin() const { return begin_; }  ///< where the next word starts
  /// The text between two positions, with blanks collapsed and comments removed.
  std::string text_between(size_t from, size_t to) const;
  int line() const;
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  void advance();

  std::string_view text_, word_;
  size_t begin_ = 0, end_ = 0;
};

}  // namespace sinter::runtime::cuda::sim

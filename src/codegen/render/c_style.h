// Renders instructions as C-like text: what C and CUDA C++ share. Subclasses supply the function header and the
// constructs that only one of them has.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "codegen/render/c_spelling.h"
#include "codegen/ssa/instructions.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// One function, and the declarations that it needs.
struct KernelText {
  std::string declarations;
  std::string parameters;  ///< with their parentheses
  std::string body;        ///< lines, without braces
};

class CStyleRenderer {
 public:
  CStyleRenderer(const Instructions& code, const runtime::Target& target);
  virtual ~CStyleRenderer() = default;
  KernelText run();

 protected:
  virtual std::string parameters() = 0;
  /// The first lines of the body: declarations of buffers and tiles.
  virtual void begin() = 0;
  virtual void end() {}
  /// The 64 bits of a numeric argument.
  virtual std::string number_argument(int64_t i) const = 0;
  /// A statement that sets bits of the error word.
  virtual std::string raise(uint32_t bits) = 0;
  /// Writes the task loop and its block.
  virtual void task_loop(Id loop) { plain_loop(loop); }
  /// A line before a loop; empty: none.
  virtual std::string unroll_pragma(const Inst&) const { return ""; }
  /// Whether a loop is bottom-tested. It must run at least once and hit its end exactly.
  virtual bool is_bottom_tested(const Inst&) const { return false; }
  /// Whether pointer arithmetic may leave the array and come back.
  virtual bool pointers_may_wrap() const { return false; }
  virtual std::string thread(int64_t stride, int64_t count);
  virtual std::string barrier();

  void line(const std::string& text) { body_ += std::string(2 * indent_, ' ') + text + "\n"; }
  std::string& text(Id id) { return text_[id]; }
  std::string fresh(std::string_view prefix) { return fmt::format("{}{}", prefix, next_++); }
  void block(int b);
  void plain_loop(Id loop);
  void note(Id loop);
  int loop_depth(Id owner) const;
  std::vector<Id> derived_inductions(Id loop);

  const Instructions& code_;
  CSpelling spell_;

 private:
  std::vector<std::string> operands(const std::vector<Id>& ids);
  std::string bare(Id id) { return without_parentheses(text(id)); }
  void define(Id id, const std::string& expression, bool movable);
  bool is_rematerialized_sum(Id id) const;
  std::vector<std::string> terms(Id address) const;
  std::string pointer(int64_t slot, Id address);
  std::string element(int64_t slot, Id address, Type type, bool written);
  void instruction(Id id);
  void load(Id id);
  void store(const Inst& n);
  void accumulator(Id id);
  void find_mma_in_place();
  void mma(Id id);

  std::vector<int> uses_, home_;
  std::vector<Id> user_;
  std::vector<bool> in_place_;   ///< a tile of tensor cores whose sums all go back to the accumulators they came from
  std::vector<bool> induction_;  ///< variable of an innermost loop, or a multiple of it
  std::vector<std::string> text_;
  std::string body_;
  size_t indent_ = 0;
  int next_ = 0;
};

/// The name of a kernel: `hint` as an identifier, and a hash of the texts.
std::string kernel_name(const std::string& hint, const KernelText& main, const KernelText& epilogue_kernel);

}  // namespace sinter::codegen

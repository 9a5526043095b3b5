// The CPU's kernels: one function of an error word, buffers, numbers and a range of points.
#include "codegen/cpu/render_c.h"

#include <algorithm>

#include "codegen/render/c_style.h"

namespace sinter::codegen {
namespace {

class C final : public CStyle {
 public:
  using CStyle::CStyle;

 protected:
  std::string parameters() override {
    return fmt::format("(void* const* bufs, const {0}* vars, {0} begin, {0} end)", spell_.type({DType::I64, 1}));
  }
  void begin() override {
    line("(void)bufs, (void)vars, (void)begin, (void)end;");
    for (size_t slot = 0; slot < code_.slots.size(); ++slot) {
      const Slot& s = code_.slots[slot];
      if (s.dtype == DType::Void) continue;  // a buffer of the launch that this kernel does not touch
      const std::string type = spell_.type({s.dtype, 1});
      if (slot < static_cast<size_t>(code_.params))
        line(fmt::format("{}{}* restrict p{} = bufs[{}];", s.written ? "" : "const ", type, slot, slot + 1));
      else if (s.offset < 0)
        line(fmt::format("{} p{}[{}] __attribute__((aligned(64)));", type, slot, s.tile));
      else
        line(fmt::format("{}* restrict p{} = ({}*)((char*)bufs[{}] + {});", type, slot, type, code_.params + 1,
                         s.offset));
    }
  }
  void end() override { line("return 0;"); }
  /// LLVM's back end counts a loop down to zero if it is known to meet its end: a comparison and often a register less.
  /// Said so, it needs no pass that finds out, and none that turns the loop round.
  bool tests_last(const Inst& loop) const override {
    const Inst &from = code_[loop.src[0]], &to = code_[loop.src[1]];
    if (from.code != Code::Const || to.code != Code::Const) return false;
    const int64_t span = to.number.as_int() - from.number.as_int();
    return span > 0 && span % loop.imm == 0;
  }
  /// Compilers are told that pointers wrap.
  bool term_by_term() const override { return true; }
  std::string number_argument(int64_t i) const override { return fmt::format("vars[{}]", i); }
  std::string raise(uint32_t bits) override {
    return fmt::format("__atomic_fetch_or(({}*)bufs[0], {}u, __ATOMIC_RELAXED);", spell_.type({DType::U32, 1}), bits);
  }
};

}  // namespace

runtime::KernelSource render_c(const Instructions& code, const Instructions* finish, const std::string& hint,
                               const runtime::Target& target) {
  const KernelText main = C(code, target).run();
  const KernelText last = finish ? C(*finish, target).run() : KernelText{};
  const std::string name = kernel_name(hint, main, last);
  std::string text =
      fmt::format("{}{}int {}{} {{\n{}}}\n", main.declarations, last.declarations, name, main.parameters, main.body);
  if (finish) text += fmt::format("int {}_finish{} {{\n{}}}\n", name, last.parameters, last.body);
  return {name, std::move(text), finish != nullptr, {}, std::max(code.scratch, finish ? finish->scratch : 0)};
}

}  // namespace sinter::codegen

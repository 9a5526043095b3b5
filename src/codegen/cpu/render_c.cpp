// A CPU kernel is one function of buffers (the first is the error word), numbers, and a range of tasks.
#include "codegen/cpu/cpu_passes.h"

#include <algorithm>

#include "codegen/render/c_style.h"

namespace sinter::codegen {
namespace {

class CRenderer final : public CStyleRenderer {
 public:
  using CStyleRenderer::CStyleRenderer;

 protected:
  std::string parameters() override {
    return fmt::format("(void* const* bufs, const {0}* vars, {0} begin, {0} end)", spell_.type({DType::I64, 1}));
  }
  void begin() override {
    line("(void)bufs, (void)vars, (void)begin, (void)end;");
    for (size_t slot = 0; slot < code_.slots.size(); ++slot) {
      const MemorySlot& s = code_.slots[slot];
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
  /// LLVM's back end counts a loop down to zero if the trip count is exact, which saves a comparison and often a
  /// register. Bottom-tested form makes that explicit: neither loop rotation nor an analysis is needed.
  bool is_bottom_tested(const Inst& loop) const override {
    const Inst &from = code_[loop.src[0]], &to = code_[loop.src[1]];
    if (from.code != InstCode::Const || to.code != InstCode::Const) return false;
    const int64_t span = to.number.as_int() - from.number.as_int();
    return span > 0 && span % loop.imm == 0;
  }
  /// Kernels are compiled with wrapping pointer arithmetic.
  bool pointers_may_wrap() const override { return true; }
  std::string number_argument(int64_t i) const override { return fmt::format("vars[{}]", i); }
  std::string raise(uint32_t bits) override {
    return fmt::format("__atomic_fetch_or(({}*)bufs[0], {}u, __ATOMIC_RELAXED);", spell_.type({DType::U32, 1}), bits);
  }
};

}  // namespace

runtime::KernelSource render_c(const Instructions& code, const Instructions* epilogue_kernel, const std::string& hint,
                               const runtime::Target& target) {
  const KernelText main = CRenderer(code, target).run();
  const KernelText last = epilogue_kernel ? CRenderer(*epilogue_kernel, target).run() : KernelText{};
  const std::string name = kernel_name(hint, main, last);
  std::string text =
      fmt::format("{}{}int {}{} {{\n{}}}\n", main.declarations, last.declarations, name, main.parameters, main.body);
  if (epilogue_kernel) text += fmt::format("int {}_finish{} {{\n{}}}\n", name, last.parameters, last.body);
  return {name,
          std::move(text),
          epilogue_kernel != nullptr,
          {},
          std::max(code.scratch, epilogue_kernel ? epilogue_kernel->scratch : 0)};
}

}  // namespace sinter::codegen

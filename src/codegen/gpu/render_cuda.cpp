// What differs from C: one parameter per buffer, tiles in shared memory, threads and barriers.
#include "codegen/gpu/gpu_passes.h"

#include <algorithm>

#include "codegen/render/c_style.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kStaticShared = 48 << 10;  ///< bytes that a kernel may declare; more are requested at the launch
constexpr int64_t kTileAlignment = 16;       ///< bytes of the widest access

int64_t bytes_of(const MemorySlot& s) {
  return (s.tile * static_cast<int64_t>(size_of(s.dtype)) + kTileAlignment - 1) / kTileAlignment * kTileAlignment;
}
bool is_shared(const Instructions& code, size_t slot) {
  return slot >= static_cast<size_t>(code.params) && code.slots[slot].offset < 0;
}
/// Bytes of dynamic shared memory: all tiles if they exceed what a kernel may declare, else 0.
int64_t dynamic_shared_bytes(const Instructions& code) {
  int64_t all = 0;
  for (size_t s = 0; s < code.slots.size(); ++s)
    if (is_shared(code, s)) all += bytes_of(code.slots[s]);
  return all > kStaticShared ? all : 0;
}

class CudaRenderer final : public CStyleRenderer {
 public:
  CudaRenderer(const Instructions& code, const runtime::Target& target, bool scratch)
      : CStyleRenderer(code, target), scratch_(scratch) {}

 protected:
  std::string parameters() override {
    std::string list = spell_.type({DType::U32, 1}) + "* error";
    for (size_t slot = 0; slot < static_cast<size_t>(code_.params); ++slot) {
      const MemorySlot& s = code_.slots[slot];
      const std::string type = s.dtype == DType::Void ? "void" : spell_.type({s.dtype, 1});
      list += fmt::format(", {}{}*{} p{}", s.written ? "" : "const ", type, is_exchanged(slot) ? "" : " __restrict__",
                          slot);
    }
    if (scratch_) list += ", char* scratch";
    for (size_t i = 0; i < static_cast<size_t>(code_.vars) + code_.args.size(); ++i)
      list += fmt::format(", {} a{}", spell_.type({DType::I64, 1}), i);
    return "(" + list + ")";
  }

  void begin() override {
    const bool asked = dynamic_shared_bytes(code_) > 0;
    if (asked) line(fmt::format("extern __shared__ __align__({}) char shared[];", kTileAlignment));
    int64_t at = 0;
    for (size_t slot = static_cast<size_t>(code_.params); slot < code_.slots.size(); ++slot) {
      const MemorySlot& s = code_.slots[slot];
      if (s.dtype == DType::Void) continue;
      const std::string type = spell_.type({s.dtype, 1});
      if (!is_shared(code_, slot)) {
        line(fmt::format("{0}* p{1} = ({0}*)(scratch + (u64)blockIdx.x * {2} + {3});", type, slot, code_.scratch,
                         s.offset));
        spell_.type({DType::U64, 1});
      } else if (asked) {
        line(fmt::format("{0}* p{1} = ({0}*)(shared + {2});", type, slot, at));
        at += bytes_of(s);
      } else {
        line(fmt::format("__shared__ __align__({}) {} p{}[{}];", kTileAlignment, type, slot, s.tile));
      }
    }
  }

  std::string number_argument(int64_t i) const override { return fmt::format("a{}", i); }
  std::string raise(uint32_t bits) override { return fmt::format("atomicOr(error, {}u);", bits); }
  /// Block number b runs task b.
  void task_loop(Id loop) override {
    note(loop);
    line("{");
    line(fmt::format("  const {} {} = blockIdx.x;", spell_.type(code_[loop].type), text(loop)));
    block(code_[loop].block);
    line("}");
  }
  std::string thread(int64_t stride, int64_t count) override {
    if (count == 1) return "0";
    std::string number = "threadIdx.x";
    if (stride > 1) number += fmt::format(" / {}", stride);
    if (stride * count < code_.threads) number += fmt::format(" % {}", count);
    return number;
  }
  std::string barrier() override { return "__syncthreads();"; }
  /// Works around a miscompilation: NVRTC 13.0 unrolls some loops of unknown trip count by three and drops the
  /// remainder iterations (min(39 - 8 * i, 8) * 13 iterations, i a 32-bit variable of an outer loop). The pragma keeps
  /// the factor from being three. Bodies that all threads enter together are long.
  std::string unroll_pragma(const Inst& loop) const override {
    if (code_[loop.src[1]].code == InstCode::Const) return "";
    return is_long(loop.block) ? "#pragma unroll 1" : "#pragma unroll 4";
  }

 private:
  /// Whether threads may read what other threads stored in this slot. Such a pointer must not be __restrict__, or the
  /// compiler may move its loads across a barrier.
  bool is_exchanged(size_t slot) const {
    auto has = [&](auto what) { return std::ranges::any_of(code_.insts, what); };
    return code_.slots[slot].written && has([](const Inst& n) { return n.code == InstCode::Barrier; }) &&
           has([&](const Inst& n) {
             return (n.code == InstCode::Load || n.code == InstCode::LoadMatrices) &&
                    n.imm == static_cast<int64_t>(slot);
           });
  }
  bool is_long(int b) const {
    const std::vector<Id>& ids = code_.blocks[static_cast<size_t>(b)];
    return std::ranges::any_of(ids, [&](Id id) {
      const InstCode code = code_[id].code;
      return code == InstCode::Loop || code == InstCode::Barrier || code == InstCode::Mma ||
             (code == InstCode::If && is_long(code_[id].block));
    });
  }
  bool scratch_;
};

std::string function(const std::string& name, const KernelText& text, const Instructions& code) {
  const std::string occupancy = code.occupancy ? fmt::format(", {}", code.occupancy) : "";
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}) {}{} {{\n{}}}\n", code.threads, occupancy,
                     name, text.parameters, text.body);
}

}  // namespace

runtime::KernelSource render_cuda(const Instructions& code, const Instructions* epilogue_kernel,
                                  const std::string& hint, const runtime::Target& target) {
  const int64_t scratch = std::max(code.scratch, epilogue_kernel ? epilogue_kernel->scratch : 0);
  const KernelText main = CudaRenderer(code, target, scratch > 0).run();
  const KernelText last = epilogue_kernel ? CudaRenderer(*epilogue_kernel, target, scratch > 0).run() : KernelText{};
  runtime::KernelSource source;
  source.name = kernel_name(hint, main, last);
  source.text = main.declarations + last.declarations + function(source.name, main, code);
  if (epilogue_kernel) source.text += function(source.name + "_finish", last, *epilogue_kernel);
  source.has_epilogue = epilogue_kernel != nullptr;
  source.scratch = scratch;
  source.threads = code.threads;
  source.epilogue_threads = epilogue_kernel ? epilogue_kernel->threads : 0;
  source.shared = std::max(dynamic_shared_bytes(code), epilogue_kernel ? dynamic_shared_bytes(*epilogue_kernel) : 0);
  return source;
}

}  // namespace sinter::codegen

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
int64_t tile_bytes(const Instructions& code) {
  int64_t all = 0;
  for (size_t s = 0; s < code.slots.size(); ++s)
    if (is_shared(code, s)) all += bytes_of(code.slots[s]);
  return all;
}

/// What is in one function: a kernel or an epilogue kernel alone, or a kernel and the epilogue that its last block
/// runs.
struct CudaFunction {
  const Instructions* parts[2];  ///< the second may be null
  bool scratch = false;          ///< the kernel has scratch memory
  bool dynamic = false;          ///< tiles lie in dynamic shared memory

  bool takes_tickets() const { return parts[1] != nullptr; }
};

class CudaRenderer final : public CStyleRenderer {
 public:
  CudaRenderer(const Instructions& code, const runtime::Target& target, const CudaFunction& function)
      : CStyleRenderer(code, target), function_(function) {}

 protected:
  std::string parameters() override {
    std::string list = spell_.type({DType::U32, 1}) + "* error";
    for (size_t slot = 0; slot < static_cast<size_t>(code_.params); ++slot) {
      const DType dtype = dtype_of(slot);
      const std::string type = dtype == DType::Void ? "void" : spell_.type({dtype, 1});
      list += fmt::format(", {}{}*{} p{}", is_written(slot) ? "" : "const ", type,
                          is_exchanged(slot) ? "" : " __restrict__", slot);
    }
    if (function_.scratch) list += ", char* scratch";
    if (function_.takes_tickets()) list += ", " + spell_.type({DType::U32, 1}) + "* tickets";
    for (size_t i = 0; i < static_cast<size_t>(code_.vars) + code_.args.size(); ++i)
      list += fmt::format(", {} a{}", spell_.type({DType::I64, 1}), i);
    return "(" + list + ")";
  }

  void begin() override {
    if (is_last()) end_others();
    if (function_.dynamic) line(fmt::format("extern __shared__ __align__({}) char shared[];", kTileAlignment));
    int64_t at = 0;
    for (size_t slot = static_cast<size_t>(code_.params); slot < code_.slots.size(); ++slot) {
      const MemorySlot& s = code_.slots[slot];
      if (s.dtype == DType::Void) continue;
      const std::string type = spell_.type({s.dtype, 1});
      if (!is_shared(code_, slot)) {
        line(fmt::format("{0}* p{1} = ({0}*)(scratch + (u64)blockIdx.x * {2} + {3});", type, slot, code_.scratch,
                         s.offset));
        spell_.type({DType::U64, 1});
      } else if (function_.dynamic) {
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
    line(fmt::format("  const {} {} = {};", spell_.type(code_[loop].type), text(loop), is_last() ? "0" : "blockIdx.x"));
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
  std::string barrier() override {
    if (!is_some_of_block()) return "__syncthreads();";
    return fmt::format("asm volatile(\"bar.sync 1, {};\" ::: \"memory\");", code_.threads);
  }
  /// Works around a miscompilation: NVRTC 13.0 unrolls some loops of unknown trip count by three and drops the
  /// remainder iterations (min(39 - 8 * i, 8) * 13 iterations, i a 32-bit variable of an outer loop). The pragma keeps
  /// the factor from being three. Bodies that all threads enter together are long.
  std::string unroll_pragma(const Inst& loop) const override {
    if (loop.number.as_int() != 0) return "#pragma unroll 1";
    if (code_[loop.src[1]].code == InstCode::Const) return "";
    return is_long(loop.block) ? "#pragma unroll 1" : "#pragma unroll 4";
  }

 private:
  bool is_last() const { return function_.takes_tickets() && &code_ == function_.parts[1]; }
  /// Only the block that takes the last ticket goes on. All stores of a block come before the fence ahead of its
  /// ticket, and all loads of its epilogue after the fence behind it. Tickets wrap to 0.
  void end_others() {
    line("__syncthreads();");
    line("int last = 0;");
    line("if (threadIdx.x == 0) {");
    line("  __threadfence();");
    line("  last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;");
    line("  __threadfence();");
    line("}");
    line("if (!__syncthreads_or(last)) return;");
    if (is_some_of_block()) line(fmt::format("if (threadIdx.x >= {}) return;", code_.threads));
  }
  /// Whether other threads of the block have returned, which a barrier of all would wait for.
  bool is_some_of_block() const { return is_last() && code_.threads < function_.parts[0]->threads; }
  bool any_part(auto what) const {
    return std::ranges::any_of(function_.parts, [&](const Instructions* part) { return part && what(*part); });
  }
  DType dtype_of(size_t slot) const {
    const Instructions* other = function_.parts[1];
    const DType dtype = function_.parts[0]->slots[slot].dtype;
    return dtype == DType::Void && other ? other->slots[slot].dtype : dtype;
  }
  bool is_written(size_t slot) const {
    return any_part([&](const Instructions& part) { return part.slots[slot].written; });
  }
  /// Whether threads may read what other threads stored in this slot. Such a pointer must not be __restrict__, or the
  /// compiler may move its loads across a barrier.
  bool is_exchanged(size_t slot) const {
    const auto has_barrier = [](const Instructions& part) {
      return std::ranges::any_of(part.insts, [](const Inst& n) { return n.code == InstCode::Barrier; });
    };
    const auto is_read = [&](const Instructions& part) {
      return std::ranges::any_of(part.insts, [&](const Inst& n) {
        if (n.code == InstCode::CopyAsync) return n.number.as_int() == static_cast<int64_t>(slot);
        return (n.code == InstCode::Load || n.code == InstCode::LoadMatrices) && n.imm == static_cast<int64_t>(slot);
      });
    };
    return is_written(slot) && (function_.takes_tickets() || any_part(has_barrier)) && any_part(is_read);
  }
  bool is_long(int b) const {
    const std::vector<Id>& ids = code_.blocks[b];
    return std::ranges::any_of(ids, [&](Id id) {
      const InstCode code = code_[id].code;
      return code == InstCode::Loop || code == InstCode::Barrier || code == InstCode::Mma ||
             (code == InstCode::If && is_long(code_[id].block));
    });
  }
  const CudaFunction& function_;
};

std::string function(const std::string& name, const KernelText& text, const Instructions& code) {
  const std::string occupancy = code.occupancy ? fmt::format(", {}", code.occupancy) : "";
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}) {}{} {{\n{}}}\n", code.threads, occupancy,
                     name, text.parameters, text.body);
}

}  // namespace

runtime::KernelSource render_cuda(const Instructions& code, const Instructions* epilogue_kernel,
                                  const std::string& hint, const runtime::Target& target) {
  const bool in_last_block = epilogue_kernel && epilogue_kernel->last_block;
  const int64_t scratch = std::max(code.scratch, epilogue_kernel ? epilogue_kernel->scratch : 0);
  // Where both parts of a function have tiles, these lie one over the other.
  const int64_t tiles = tile_bytes(code), more = epilogue_kernel ? tile_bytes(*epilogue_kernel) : 0;
  const bool overlaid = in_last_block && tiles && more;
  const CudaFunction first{{&code, in_last_block ? epilogue_kernel : nullptr},
                           scratch > 0,
                           overlaid || (in_last_block ? std::max(tiles, more) : tiles) > kStaticShared};
  const CudaFunction second =
      in_last_block ? first : CudaFunction{{epilogue_kernel, nullptr}, scratch > 0, more > kStaticShared};
  KernelText main = CudaRenderer(code, target, first).run();
  const KernelText last = epilogue_kernel ? CudaRenderer(*epilogue_kernel, target, second).run() : KernelText{};
  runtime::KernelSource source;
  source.name = kernel_name(hint, main, last);
  source.text = main.declarations + last.declarations;
  if (in_last_block) main.body += "  {\n" + last.body + "  }\n";
  source.text += function(source.name, main, code);
  source.has_epilogue = epilogue_kernel && !in_last_block;
  if (source.has_epilogue) source.text += function(source.name + "_finish", last, *epilogue_kernel);
  source.takes_tickets = in_last_block;
  source.scratch = scratch;
  source.threads = code.threads;
  source.epilogue_threads = source.has_epilogue ? epilogue_kernel->threads : 0;
  source.shared = std::max(first.dynamic ? tiles : 0, second.dynamic ? more : 0);
  return source;
}

}  // namespace sinter::codegen

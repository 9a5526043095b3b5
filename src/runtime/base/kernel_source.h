// A kernel as source text, and the result of compiling it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sinter/error.h"

namespace sinter::runtime {

/// One kernel as source text.
///
/// For the CPU: freestanding, well-defined C that both Clang and GCC 12 accept. Several kernels share a translation
/// unit. Everything defined at file scope should therefore begin with `name`, except typedefs, which may be repeated.
/// Texts that collide are compiled one by one: slower, but still correct.
///
/// For a GPU: CUDA C++ without headers,
///   extern "C" __global__ void NAME(unsigned* error, T0* p0, ..., [char* scratch,] [unsigned* tickets,] long long v0,
///   ...)
/// All pointers come first (the error word, the Params by slot, scratch memory and the tickets if needed), then all
/// numbers (symbolic sizes, bits of the arguments). One block of `threads` threads runs each task.
struct KernelSource {
  std::string name;  ///< the function it defines; partly derived from the content, so names do not collide
  std::string text;
  bool has_epilogue = false;         ///< also defines NAME_finish, an epilogue that runs after the join
  std::vector<int64_t> blocks = {};  ///< per outer range, the number of values that one task covers; missing entries
                                     ///< are 1
  int64_t scratch = 0;         ///< bytes per thread, 64-byte aligned, passed after the last buffer; on a GPU, per block
  int threads = 0;             ///< threads per block on a GPU; 0: a CPU kernel
  bool takes_tickets = false;  ///< on a GPU: the last block runs the epilogue. Blocks count in a word, which is 0
                               ///< before a launch and after it
  int epilogue_threads = 0;    ///< threads per block of the epilogue
  int64_t epilogue_blocks = 1;  ///< blocks of the epilogue
  int64_t shared = 0;           ///< dynamic shared memory in bytes, beyond what the text declares
};

/// The result of compiling one text.
struct CompileResult {
  bool ok = false;
  std::string object;  ///< ELF bytes, or PTX for a simulated GPU
  std::string log;     ///< the compiler's messages, also on success
};

/// The compiler that a Target was made for does not run, and the remaining one uses another dialect. Kernels must be
/// written again for the new host_target().
class DialectMismatch : public BackendError {
 public:
  using BackendError::BackendError;
};

}  // namespace sinter::runtime

// A kernel as text, and what a compiler makes of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sinter/error.h"

namespace sinter::runtime {

/// One kernel as text. For the CPU: freestanding, well-defined C that both Clang and GCC 12 take. Several share a
/// translation unit, so everything it defines at file scope should begin with `name` (typedefs, which may be repeated,
/// excepted); texts that collide are compiled one by one, which is slower and nothing else. For a GPU: CUDA C++ without
/// headers,
///   extern "C" __global__ void NAME(unsigned* error, T0* p0, ..., [char* scratch,] long long v0, ...)
/// with all pointers first (the error word, the Params by slot, scratch memory if it needs any) and then all numbers
/// (symbolic sizes, bits of the arguments), run by one block of `threads` threads per task.
struct KernelSource {
  std::string name;  ///< the function it defines; a part of it says the content, so that names do not collide
  std::string text;
  bool has_epilogue = false;         ///< it defines NAME_finish too, the epilogue, which runs after the join
  std::vector<int64_t> blocks = {};  ///< values of each outer range that one task covers; those that are missing: 1
  int64_t scratch = 0;  ///< bytes that each thread needs, 64-byte aligned, behind the last of bufs; on a GPU each block
  int threads = 0;      ///< of a block on a GPU; 0: a kernel of the CPU
  int epilogue_threads = 0;     ///< of a block of its epilogue,
  int64_t epilogue_blocks = 1;  ///< and how many of them there are
  int64_t shared = 0;           ///< bytes of shared memory that a launch must ask for, beside what the text declares
};

/// What one text became.
struct CompileResult {
  bool ok = false;
  std::string object;  ///< ELF bytes, or PTX for a simulated GPU
  std::string log;     ///< the compiler's words, also when it succeeded
};

/// The compiler that a Target was made for turned out not to run, and the one that is left speaks another dialect:
/// kernels must be written anew, for what host_target() is now.
class DialectMismatch : public BackendError {
 public:
  using BackendError::BackendError;
};

}  // namespace sinter::runtime

// CUDA text -> PTX by Clang's NVPTX back end, inside the process: for the simulated device where there is no NVRTC.
#pragma once

#include <string>

#include "runtime/base/kernel_source.h"

namespace sinter::runtime::cuda::sim {

/// Whether this build has the Clang plugin and it opens; if not, compile_ptx() says so.
bool has_clang();

/// True if the plugin cannot be opened here: from now on there is none.
bool disable_clang_if_broken();

/// All that changes what a text becomes.
std::string clang_id(int sm);

/// `text` is CUDA C++ without #include; what it may call beside its own functions is in the prelude (prelude.h). PTX
/// for compute capability `sm` (90 for 9.0) with lines of `text`; no sum and product are fused. Throws BackendError
/// without the plugin.
CompileResult compile_ptx_result(const std::string& text, int sm);

/// The same. Throws CompileError with the log for a text that is wrong.
std::string compile_ptx(const std::string& text, int sm);

}  // namespace sinter::runtime::cuda::sim

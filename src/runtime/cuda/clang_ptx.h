// CUDA text -> PTX by Clang's NVPTX back end, in this process: for simulated devices without NVRTC.
#pragma once

#include <string>

#include "runtime/base/kernel_source.h"

namespace sinter::runtime::cuda {

/// Whether this build has the Clang plugin and it opens. If not, compile_ptx() throws the reason.
bool has_clang();

/// True if the plugin cannot be opened here. From then on there is none.
bool disable_clang_if_broken();

/// Everything that determines the PTX of a text.
std::string clang_id(int sm);

/// `text` is CUDA C++ without #include. Beside its own functions it may call those of the prelude (clang_prelude.h).
/// Returns PTX for compute capability `sm` (90 for 9.0) with line information; multiply-adds are not contracted. Throws
/// BackendError without the plugin.
CompileResult compile_ptx(const std::string& text, int sm);

}  // namespace sinter::runtime::cuda

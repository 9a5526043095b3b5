// CUDA C++ text -> images, by NVRTC.
#pragma once

#include <string>

#include "runtime/base/kernel_source.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvrtc.h"

namespace sinter::runtime::cuda {

/// The form of an image: machine code for one architecture, or PTX, which simulated devices run.
enum class ImageFormat : uint8_t { Cubin, Ptx };

/// NVRTC's architecture name for compute capability `sm` (90 for 9.0): "sm_90a", which enables all features of the
/// device, or "sm_86"; "compute_90a" for PTX. An NVRTC too old for the device uses the next lower architecture of the
/// same generation, whose code runs there. Throws BackendError if it supports none.
std::string architecture(const NvrtcLibrary& nvrtc, int sm, ImageFormat form);

/// Compiler version and options: everything that determines the image of a text.
std::string compiler_id(const NvrtcLibrary& nvrtc, int sm, ImageFormat form);

/// Compiles a text. The log contains what ptxas reports about registers and shared memory (lint.h). `name` appears in
/// messages. Throws BackendError if NVRTC cannot run. Safe from several threads.
CompileResult compile(const NvrtcLibrary& nvrtc, const std::string& name, const std::string& text, int sm,
                      ImageFormat form);

/// The image compiler for a driver's devices: NVRTC, or Clang for a simulated device without NVRTC, or the reason why
/// there is none.
struct ImageCompiler {
  const NvrtcLibrary* nvrtc = nullptr;    ///< null: Clang, or no compiler
  ImageFormat form = ImageFormat::Cubin;  ///< also set if there is no compiler
  std::string name;                       ///< "NVRTC 12.8 (/usr/local/cuda/lib64/libnvrtc.so.12)"
  std::string reason;                     ///< a sentence, if there is no compiler

  /// Same as compiler_id() and compile() above.
  std::string id(int sm) const;
  CompileResult compile(const std::string& kernel, const std::string& text, int sm) const;
};
ImageCompiler compiler_of(const DriverLibrary& driver);

}  // namespace sinter::runtime::cuda

// CUDA C++ text -> images, by NVRTC.
#pragma once

#include <string>

#include "runtime/base/kernel_source.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvrtc.h"

namespace sinter::runtime::cuda {

/// What an image is: machine code for one architecture, or the instructions that simulated devices run.
enum class ImageFormat : uint8_t { Cubin, Ptx };

/// The name under which NVRTC compiles for compute capability `sm` (90 for 9.0): "sm_90a", which grants all that the
/// device can, or "sm_86"; "compute_90a" for PTX. An NVRTC too old to know the device takes the next lower one of the
/// same generation, whose code runs there. Throws BackendError if it knows none.
std::string architecture(const NvrtcLibrary& nvrtc, int sm, ImageFormat form);

/// Version of the compiler and options: what changes the image of a text.
std::string compiler_id(const NvrtcLibrary& nvrtc, int sm, ImageFormat form);

/// Translates a text; its log has what ptxas says of registers and shared memory (lint.h). `name` stands in messages.
/// Throws BackendError if NVRTC cannot run. Safe from several threads.
CompileResult compile(const NvrtcLibrary& nvrtc, const std::string& name, const std::string& text, int sm,
                      ImageFormat form);

/// What makes images for the devices of a driver, or why nothing can: NVRTC, or Clang where a simulated device has
/// none.
struct ImageCompiler {
  const NvrtcLibrary* nvrtc = nullptr;    ///< null: Clang, or nothing
  ImageFormat form = ImageFormat::Cubin;  ///< of what it makes, or would
  std::string name;                       ///< "NVRTC 12.8 (/usr/local/cuda/lib64/libnvrtc.so.12)"
  std::string reason;                     ///< a sentence, if there is none

  /// As compiler_id() and compile() above.
  std::string id(int sm) const;
  CompileResult compile(const std::string& kernel, const std::string& text, int sm) const;
};
ImageCompiler compiler_of(const DriverLibrary& driver);

}  // namespace sinter::runtime::cuda

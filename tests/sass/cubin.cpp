// Machine code of a kernel's text for a GPU, by the compiler and the options of the runtime; no GPU is needed.
// `sass_cubin SM OUT < TEXT`, SM such as 90, writes an image to OUT and prints what ptxas says of each function.
#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "ptxas_lint.h"
#include "runtime/cuda/compile_cuda.h"
#include "sinter/error.h"

using namespace sinter;
namespace gpu = runtime::cuda;

namespace {

int number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) throw UsageError(fmt::format("{} is no number", text));
  return number;
}

void print(const gpu::Lint& lint, bool asks_shared) {
  for (const gpu::KernelLint& k : lint.kernels)
    fmt::print(
        "// {} for {}: {} registers, {} bytes of shared memory{}, {} of stack, {} and {} of spills stored and "
        "loaded\n",
        k.name, k.arch, k.registers, k.shared, asks_shared ? " and what the launch asks for" : "", k.stack,
        k.spill_stores, k.spill_loads);
  for (const std::string& warning : lint.warnings) fmt::print("// {}\n", warning);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw UsageError("sass_cubin SM OUT < TEXT");
  const gpu::NvrtcLibrary& nvrtc = gpu::find_nvrtc();
  if (!nvrtc.table) throw BackendError(nvrtc.reason);
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const runtime::CompileResult made = gpu::compile(nvrtc, "kernel", text, number_of(argv[1]), gpu::ImageFormat::Cubin);
  if (!made.ok) throw CompileError(made.log);
  std::ofstream out(argv[2], std::ios::binary);
  if (!out.write(made.object.data(), static_cast<std::streamsize>(made.object.size())).flush())
    throw UsageError(fmt::format("{} cannot be written", argv[2]));
  print(gpu::lint_of(made.log), text.find("extern __shared__") != std::string::npos);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}

// Compiles C with Clang or GCC. Loads objects with our own loader or dlopen.
#include "runtime/program/toolchain.h"

#include <fmt/core.h>

#include "runtime/cpu/clang_plugin.h"
#include "runtime/cpu/compile_external.h"
#include "runtime/cpu/compiler.h"
#include "runtime/cpu/elf.h"
#include "runtime/cpu/translation_units.h"
#include "runtime/program/program.h"

namespace sinter::runtime::cpu {
namespace {

class CpuToolchain final : public Toolchain {
 public:
  explicit CpuToolchain(const Target& target) : target_(target), compiler_(current_compiler(target)) {}

  std::string id() const override { return compiler_->id(target_); }
  std::string kind() const override { return kind_of(target_); }

  // None for instrumented libraries, which need the compiler's own runtime library.
  std::optional<CacheOrigin> origin() const override {
    if (!compiler_->is_available() || compiler_->makes_libraries()) return std::nullopt;
    return CacheOrigin{id(), compiler_->dialect(), 0, ""};
  }

  bool fall_back() const override {
    if (!disable_if_broken(*compiler_)) return false;
    if (compiler_dialect(target_) != compiler_->dialect())
      throw DialectMismatch("the Clang plugin cannot be opened, and the compiler that is left speaks another dialect");
    return true;
  }

  std::vector<CompileResult> build(std::span<const KernelSource* const> kernels) const override {
    if (!compiler_->is_available()) throw_no_compiler(kernels, kind(), target_, kInstallCompiler);
    return cpu::build(kernels, *compiler_, target_);
  }

  std::shared_ptr<const Program> load(const KernelSource& kernel, Hash128 key, std::string_view object) const override {
    std::unique_ptr<MachineCode> code =
        compiler_->makes_libraries() ? load_library(std::string(object)) : load_object(object, entries_of(kernel));
    return std::make_shared<Program>(kernel, key, std::move(code));
  }

  std::string listing(const KernelSource& kernel, const Program& program) const override {
    std::string text;
    for (const std::string& entry : entries_of(kernel))
      if (const auto symbol = program.code().find(entry); symbol.size)
        text += fmt::format("; {}\n{}", entry, disassemble(symbol.address, symbol.size, target_));
    return text;
  }

 private:
  const Target target_;
  const std::shared_ptr<const Compiler> compiler_;
};

}  // namespace

std::unique_ptr<const Toolchain> toolchain(const Target& target) { return std::make_unique<CpuToolchain>(target); }

}  // namespace sinter::runtime::cpu

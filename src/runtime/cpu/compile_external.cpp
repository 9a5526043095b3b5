// SINTER_CC: writes the text to a file, runs the compiler on it, reads the object back.
#include "runtime/cpu/compile_external.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "runtime/base/files.h"
#include "runtime/base/subprocess.h"
#include "sinter/error.h"

namespace sinter::runtime::cpu {
namespace {

// The same semantics as the plugin's arguments. GCC gets -O2 because it lowers vector types late.
std::vector<std::string> flags_for(const Target& target, Dialect dialect, bool library) {
  return {fmt::format("-march={}", target.isa),
          "-mtune=generic",
          fmt::format("-mprefer-vector-width={}", target.vector_bytes * 8),
          dialect == Dialect::Gcc ? "-O2" : "-O1",
          "-std=gnu11",
          "-w",
          "-ffreestanding",
          "-ffp-contract=off",
          "-fno-math-errno",
          "-fno-strict-overflow",  // integers and pointers wrap
          "-fno-strict-aliasing",
          "-fPIC",
          library ? "-fvisibility=default" : "-fvisibility=hidden",
          "-ffunction-sections",
          "-fdata-sections",
          "-fno-stack-protector",
          "-fcf-protection=none",
          "-fno-asynchronous-unwind-tables"};
}

std::vector<std::string> split(const std::string& command) {
  std::vector<std::string> words;
  for (size_t at = command.find_first_not_of(" \t"); at != std::string::npos;) {
    const size_t end = std::min(command.find_first_of(" \t", at), command.size());
    words.push_back(command.substr(at, end - at));
    at = command.find_first_not_of(" \t", end);
  }
  return words;
}

/// From the program's name after resolving links (cc is gcc or clang), otherwise from the compiler's predefined macros.
Dialect find_dialect(const std::string& program) {
  std::string name = program;
  if (char* resolved = realpath(program.c_str(), nullptr)) {
    name = resolved;
    free(resolved);
  }
  name = name.substr(name.rfind('/') + 1);
  if (name.find("clang") != std::string::npos) return Dialect::Clang;
  if (name.find("gcc") != std::string::npos) return Dialect::Gcc;
  const TemporaryFolder folder;
  run_process({program, "-dM", "-E", "-x", "c", "/dev/null"}, folder.file("macros"));
  const std::string macros = read_file(folder.file("macros")).value_or("");
  return macros.find("__clang__") != std::string::npos ? Dialect::Clang : Dialect::Gcc;
}

class ExternalCompiler final : public Compiler {
 public:
  ExternalCompiler(std::string program, std::vector<std::string> flags)
      : program_(std::move(program)), flags_(std::move(flags)), dialect_(find_dialect(program_)) {
    library_ = std::ranges::any_of(flags_, [](const std::string& f) { return f.rfind("-fsanitize=", 0) == 0; });
  }

  // Identified by the file's stamp: asking the compiler for its version would start it once in each process.
  std::string id(const Target& target) const override {
    std::string text = fmt::format("{} {}{}", program_, stamp_of(program_), library_ ? " library" : "");
    for (const std::string& flag : flags_for(target, dialect_, library_)) text += " " + flag;
    for (const std::string& flag : flags_) text += " " + flag;
    return text;
  }

  Dialect dialect() const override { return dialect_; }
  bool makes_libraries() const override { return library_; }

  CompileResult compile(const std::string& text, const Target& target) const override {
    const TemporaryFolder folder;
    if (!write_file(folder.file("kernels.c"), text))
      throw BackendError(fmt::format("the source of a kernel cannot be written to {}", folder.file("kernels.c")));
    std::vector<std::string> words{program_};
    for (std::string& flag : flags_for(target, dialect_, library_)) words.push_back(std::move(flag));
    words.insert(words.end(), flags_.begin(), flags_.end());
    for (const std::string& word : {std::string(library_ ? "-shared" : "-c"), std::string("-o"),
                                    folder.file("kernels.o"), folder.file("kernels.c")})
      words.push_back(word);
    CompileResult result;
    const int status = run_process(words, folder.file("log"));
    result.log = read_file(folder.file("log")).value_or("");
    auto object = status == 0 ? read_file(folder.file("kernels.o")) : std::nullopt;
    result.ok = object.has_value();
    if (result.ok)
      result.object = std::move(*object);
    else
      result.log += fmt::format("{} ended with status {}", program_, status);
    return result;
  }

 private:
  std::string program_;
  std::vector<std::string> flags_;
  Dialect dialect_;
  bool library_ = false;
};

class LoadedLibrary final : public MachineCode {
 public:
  explicit LoadedLibrary(void* handle) : handle_(handle) {}
  ~LoadedLibrary() override { dlclose(handle_); }
  Symbol find(const std::string& name) const override { return {dlsym(handle_, name.c_str()), 0}; }

 private:
  void* handle_;
};

}  // namespace

std::shared_ptr<const Compiler> external_compiler(const std::string& command) {
  std::vector<std::string> words = split(command);
  const auto program = words.empty() ? std::nullopt : find_executable(words[0]);
  if (!program) return nullptr;
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, std::shared_ptr<const Compiler>>;  // by path and flags
  std::lock_guard lock(mutex);
  auto& compiler = known[*program + command];
  words.erase(words.begin());
  if (!compiler) compiler = std::make_shared<ExternalCompiler>(*program, std::move(words));
  return compiler;
}

std::unique_ptr<MachineCode> load_library(const std::string& bytes) {
  const TemporaryFolder folder;  // the file may be removed once it is mapped
  const std::string path = folder.file("kernel.so");
  if (!write_file(path, bytes)) throw BackendError(fmt::format("a kernel's library cannot be written to {}", path));
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw BackendError(fmt::format("a kernel's library cannot be loaded: {}", dlerror()));
  return std::make_unique<LoadedLibrary>(handle);
}

}  // namespace sinter::runtime::cpu

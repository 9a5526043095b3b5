// dlopen of libsinter_clang, its C interface, and the compiler arguments for kernels.
#include "runtime/cpu/clang_plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <vector>

#include "clang_plugin/sinter_clang.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/log.h"
#include "runtime/base/permanent_library.h"
#include "runtime/base/plugin.h"
#include "runtime/base/process_exit.h"
#include "runtime/base/sanitizer.h"
#include "sinter/error.h"

namespace sinter::runtime::cpu {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

// Kernels already use vector types and are unrolled, so this short list reaches the speed of -O2 at a fraction of its
// compile time. mem2reg runs before the helpers are inlined, so that what is inlined is short. indvars is left out: it
// examines each of a tile's hundreds of addresses, which is expensive, and what it would find out about loops is
// already in the text (is_bottom_tested() in codegen/cpu/render_c.cpp). No pass changes floating-point rounding.
constexpr const char* kPasses =
    "function(mem2reg),always-inline,"
    "function(sroa<modify-cfg>,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),simplifycfg,loop(loop-unroll-full),sroa<modify-cfg>,early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,simplifycfg)";
constexpr int kCodegenLevel = 1;

// Undefined behavior traps: a report would need writable data, which the loader rejects. Pointer checks are left to
// AddressSanitizer: three more branches per access make large kernels take minutes to compile.
constexpr const char* kUndefined = "array-bounds,bool,integer-divide-by-zero,shift-base,shift-exponent";

// Floating point follows SEMANTICS F1 and F4. Integers wrap. Memory may be accessed as another type, because values of
// different types share an arena. -fwrapv makes pointers wrap too; from LLVM 20 on that needs -fwrapv-pointer.
std::vector<std::string> arguments(const Target& target) {
  std::vector<std::string> words = {
      "-triple", kTriple, "-target-cpu", target.isa, "-emit-obj", "-x", "c", "-std=gnu11", "-O1", "-w",
      "-ffreestanding", "-fno-builtin", "-nostdsysteminc", "-nobuiltininc", "-ffp-contract=off", "-fwrapv",
      "-relaxed-aliasing", "-mrelocation-model", "pic", "-pic-level", "2", "-mcmodel=small", "-fvisibility=hidden",
      "-mframe-pointer=none", "-discard-value-names",
      // Tiles live as long as the kernel. To emit the markers, Clang would search each function for jumps into scopes.
      "-disable-lifetime-markers",
      // With x86-64-v4 alone LLVM splits 64-byte vectors in two.
      fmt::format("-mprefer-vector-width={}", target.vector_bytes * 8)};
  if (kSanitizer == Sanitizer::Address) {
    words.push_back(fmt::format("-fsanitize=address,{}", kUndefined));
    words.push_back(fmt::format("-fsanitize-trap={}", kUndefined));
  }
  if (kSanitizer == Sanitizer::Thread) words.push_back("-fsanitize=thread");
  return words;
}

/// The entry points, set once when the library is opened.
struct ClangPluginApi {
  SinterClangCompile compile = nullptr;
  SinterClangDisassemble disassemble = nullptr;
  SinterClangFree free = nullptr;
};

#if defined(SINTER_LLVM_VERSION)
constexpr bool kBuilt = true;
constexpr const char* kVersion = SINTER_LLVM_VERSION;
constexpr const char* kLibraries[] = {SINTER_LLVM_LIBRARIES};
#else
constexpr bool kBuilt = false;
constexpr const char* kVersion = "";
constexpr const char* kLibraries[] = {""};
#endif

/// Existing plugin files, in search order.
std::vector<std::string> candidates() {
  return kBuilt ? plugin_files("libsinter_clang.so") : std::vector<std::string>{};
}

bool read_entries(void* handle, ClangPluginApi& out) {
  const auto abi = reinterpret_cast<SinterClangAbi>(dlsym(handle, "sinter_clang_abi"));
  out.compile = reinterpret_cast<SinterClangCompile>(dlsym(handle, "sinter_clang_compile"));
  out.disassemble = reinterpret_cast<SinterClangDisassemble>(dlsym(handle, "sinter_clang_disassemble"));
  out.free = reinterpret_cast<SinterClangFree>(dlsym(handle, "sinter_clang_free"));
  return abi && abi() == SINTER_CLANG_ABI && out.compile && out.disassemble && out.free;
}

std::atomic<bool> open_failed{false};

/// Also true once the process exits: LLVM does not survive the destruction of its static objects. Destructors of older
/// objects that compile after that use cc.
bool unusable() { return open_failed || process_exiting(); }

/// The versions of plugin and LLVM, from their files' stamps at the first call. Opens no library.
const std::string& stamps() {
  static const auto& text = *new std::string([] {
    std::vector<std::string> files = candidates();
    files.insert(files.end(), std::begin(kLibraries), std::end(kLibraries));
    for (std::string& file : files) file = stamp_of(file);
    return fmt::format("{}", fmt::join(files, " "));
  }());
  return text;
}

/// The opened plugin, or null if it is unusable. Never closed, not even one of another version: LLVM does not survive
/// dlclose().
const ClangPluginApi* open_library(const ProcessExitGuard& work) {
  if (!work) return nullptr;
  static std::mutex& mutex = *new std::mutex;
  static const ClangPluginApi* opened = nullptr;
  std::lock_guard lock(mutex);
  if (opened || open_failed) return opened;
  std::string reasons;
  for (const std::string& file : candidates()) {
    void* handle = open_permanent_library(file);
    if (handle) note_compiler_opened();
    ClangPluginApi library;
    if (handle && read_entries(handle, library)) return opened = new ClangPluginApi(library);
    reasons += fmt::format("\n  {}: {}", file, handle ? "of another version" : dlerror());
  }
  open_failed = true;
  log(0,
      fmt::format("sinter: the Clang plugin cannot be used, kernels are compiled by cc, which is slower:{}", reasons));
  return nullptr;
}

/// Runs one compilation; nullopt if the plugin is unusable.
std::optional<CompileResult> compile_with_plugin(const std::string& text, const std::vector<std::string>& words,
                                                 const char* passes, int level, int sanitizer, int output) {
  const ProcessExitGuard work;
  const ClangPluginApi* library = open_library(work);
  if (!library) return std::nullopt;
  std::vector<const char*> args;
  for (const std::string& word : words) args.push_back(word.c_str());
  const SinterClangRequest request{text.c_str(), text.size(), args.data(), args.size(),
                                   passes,       level,       sanitizer,   output};
  char *object = nullptr, *messages = nullptr;
  size_t size = 0;
  const int code = library->compile(&request, &object, &size, &messages);
  CompileResult result{code == SINTER_CLANG_OK, {}, messages ? messages : "out of memory"};
  if (object) result.object.assign(object, size);
  library->free(object);
  library->free(messages);
  if (code == SINTER_CLANG_BROKEN) throw InternalError("the Clang plugin refused its arguments: " + result.log);
  return result;
}

class PluginCompiler final : public Compiler {
 public:
  std::string id(const Target& target) const override {
    return fmt::format("{}, passes {}, level {} {}", plugin_id(), kPasses, kCodegenLevel,
                       fmt::join(arguments(target), " "));
  }

  Dialect dialect() const override { return Dialect::Clang; }

  CompileResult compile(const std::string& text, const Target& target) const override {
    const int sanitizer = kSanitizer == Sanitizer::Address  ? SINTER_CLANG_ADDRESS
                          : kSanitizer == Sanitizer::Thread ? SINTER_CLANG_THREAD
                                                            : SINTER_CLANG_PLAIN;
    const std::optional<CompileResult> result =
        compile_with_plugin(text, arguments(target), kPasses, kCodegenLevel, sanitizer, SINTER_CLANG_OBJECT);
    if (!result)
      throw DialectMismatch("the Clang plugin cannot be used any more, and another compiler takes its place");
    return *result;
  }
};

}  // namespace

const std::shared_ptr<const Compiler>& plugin_compiler() {
  using Compilers = std::pair<std::shared_ptr<const Compiler>, std::shared_ptr<const Compiler>>;
  static const Compilers& found =
      *new Compilers(candidates().empty() ? nullptr : std::make_shared<PluginCompiler>(), nullptr);
  return unusable() ? found.second : found.first;
}

void report_missing_plugin() {
  static std::once_flag once;
  std::call_once(once, [] {  // the search touches the file system
    if (!kBuilt || !candidates().empty()) return;
    log(0, fmt::format("sinter: no libsinter_clang.so {}: kernels are compiled by cc, which takes longer and gives "
                       "slower ones; add the plugin's folder to LD_LIBRARY_PATH or the program's rpath, or set "
                       "SINTER_CC=cc if this is meant",
                       plugin_places()));
  });
}

bool disable_plugin_if_broken(const Compiler& compiler) {
  if (!dynamic_cast<const PluginCompiler*>(&compiler)) return false;
  const ProcessExitGuard work;
  return !open_library(work);
}

std::optional<CompileResult> compile_to_assembly(const std::string& text, const std::vector<std::string>& arguments,
                                                 const char* passes, int level) {
  if (!plugin_compiler()) return std::nullopt;
  return compile_with_plugin(text, arguments, passes, level, SINTER_CLANG_PLAIN, SINTER_CLANG_ASSEMBLY);
}

std::string plugin_id() { return fmt::format("clang {} in process ({})", kVersion, stamps()); }

std::string disassemble(const void* code, size_t size, const Target& target) {
  const ProcessExitGuard work;
  const ClangPluginApi* library = plugin_compiler() ? open_library(work) : nullptr;
  char* text = nullptr;
  if (!library || library->disassemble(kTriple, target.isa.c_str(), code, size, 0, &text) != SINTER_CLANG_OK) return "";
  std::string result = text;
  library->free(text);
  return result;
}

}  // namespace sinter::runtime::cpu

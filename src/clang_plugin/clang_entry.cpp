// The plugin's entry points: borrow a worker, compile, and turn every failure into a result and a log.
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>

#include "compile.h"

namespace sinter_clang {
namespace {

// LLVM options that switch off what the generator has done already, or what costs compile time without gain.
// misched: the order of the text is chosen for the target's registers and latencies (codegen/emit/emit.cpp,
// codegen/cpu/interleave.cpp). Machine scheduling found nothing better, took time, and serialized interleaved unrolled
// copies where registers are short.
// store merging: compares all pairs of accesses in a block, hundreds in an unrolled tile. Contiguous accesses are
// vectors in the text already.
// token factors of hundreds of stores are not merged into one: revisiting them dominated instruction selection.
// LSR: induction variables stand in the text (codegen/render/c_style.cpp), by terms that addresses share. Strength
// reduction went through every address of a tile to find the same.
constexpr const char* kOptions[] = {"sinter_clang", "-enable-misched=false", "-combiner-store-merging=false",
                                    "-combiner-tokenfactor-inline-limit=8", "-disable-lsr"};

// LLVM's default is exit(1). Unwinding through LLVM leaks what the compile held, and nothing else.
void on_fatal_error(void*, const char* reason, bool) { throw FatalError{reason}; }

/// Idle workers, for any thread. Never destroyed: a thread may still compile while the process ends.
class WorkerPool {
 public:
  WorkerPool() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    llvm::InitializeNativeTargetDisassembler();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::cl::ParseCommandLineOptions(std::size(kOptions), kOptions, "", &llvm::nulls());
  }

  std::unique_ptr<Worker> take(const std::string& key) {
    std::lock_guard lock(mutex_);
    for (auto& worker : idle_)
      if (worker->key() == key) {
        std::swap(worker, idle_.back());
        std::unique_ptr<Worker> taken = std::move(idle_.back());
        idle_.pop_back();
        return taken;
      }
    return nullptr;
  }
  void put(std::unique_ptr<Worker> worker) {
    std::lock_guard lock(mutex_);
    if (idle_.size() >= kMaxIdle) idle_.erase(idle_.begin());
    idle_.push_back(std::move(worker));
  }

 private:
  static constexpr size_t kMaxIdle = 8;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

// Constructed when the library is opened: ThreadSanitizer cannot see the synchronization of a lazy initialization in
// here.
WorkerPool& workers = *new WorkerPool;

char* copy_out(const char* data, size_t size) {
  char* memory = static_cast<char*>(std::malloc(size + 1));
  if (!memory) return nullptr;
  if (size) std::memcpy(memory, data, size);
  memory[size] = 0;
  return memory;
}

SinterClangResult compile(const SinterClangRequest& request, llvm::SmallVectorImpl<char>& object, std::string& log) {
  std::unique_ptr<Worker> worker = workers.take(worker_key(request));
  if (!worker) worker = Worker::create(request, log);
  if (!worker) return SINTER_CLANG_BROKEN;
  try {
    SinterClangResult result = worker->compile(request, object, log);
    workers.put(std::move(worker));
    return result;
  } catch (const FatalError& error) {
    (void)worker.release();
    log += "error in the back end: " + error.message;
    return SINTER_CLANG_BAD_SOURCE;
  }
}

}  // namespace
}  // namespace sinter_clang

using sinter_clang::copy_out;

#define SINTER_CLANG_EXPORT extern "C" __attribute__((visibility("default")))

SINTER_CLANG_EXPORT int sinter_clang_abi(void) { return SINTER_CLANG_ABI; }

SINTER_CLANG_EXPORT int sinter_clang_compile(const SinterClangRequest* request, char** object, size_t* object_size,
                                             char** log) {
  *object = *log = nullptr;
  *object_size = 0;
  std::string text;
  int result = SINTER_CLANG_BROKEN;
  try {
    llvm::SmallVector<char, 0> bytes;
    result = sinter_clang::compile(*request, bytes, text);
    if (result == SINTER_CLANG_OK) {
      *object = copy_out(bytes.data(), bytes.size());
      *object_size = bytes.size();
      if (!*object) result = SINTER_CLANG_BROKEN;
    }
  } catch (const std::exception& error) { text += error.what(); } catch (const sinter_clang::FatalError& error) {
    text += error.message;
  }
  *log = copy_out(text.data(), text.size());
  return result;
}

SINTER_CLANG_EXPORT int sinter_clang_disassemble(const char* triple, const char* cpu, const void* code, size_t size,
                                                 uint64_t address, char** text) {
  *text = nullptr;
  LLVMDisasmContextRef disassembler = LLVMCreateDisasmCPU(triple, cpu, nullptr, 0, nullptr, nullptr);
  if (!disassembler) return SINTER_CLANG_BROKEN;
  LLVMSetDisasmOptions(disassembler, LLVMDisassembler_Option_AsmPrinterVariant | LLVMDisassembler_Option_PrintImmHex);
  auto* bytes = static_cast<uint8_t*>(const_cast<void*>(code));
  std::string out;
  for (size_t at = 0; at < size;) {
    char line[256], head[32];
    size_t length = LLVMDisasmInstruction(disassembler, bytes + at, size - at, address + at, line, sizeof line);
    std::snprintf(head, sizeof head, "%8llx:", static_cast<unsigned long long>(address) + at);
    out += head;
    out += length ? line : "\t(no instruction)";
    out += '\n';
    at += length ? length : 1;
  }
  LLVMDisasmDispose(disassembler);
  *text = copy_out(out.data(), out.size());
  return *text ? SINTER_CLANG_OK : SINTER_CLANG_BROKEN;
}

SINTER_CLANG_EXPORT void sinter_clang_free(void* memory) { std::free(memory); }

// Source text -> LLVM module (Clang) -> optimized module (the given passes) -> ELF object or assembly (the back end).
#include "compile.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/TargetOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>

namespace sinter_clang {
namespace {

// Without this handler the back end calls exit() on an error, for example on bad inline assembly.
class LogHandler : public llvm::DiagnosticHandler {
 public:
  explicit LogHandler(std::string& log) : log_(log) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      HasErrors = true;
      llvm::raw_string_ostream stream(log_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      stream << "error: ";
      info.print(printer);
      stream << '\n';
    }
    return true;
  }

 private:
  std::string& log_;
};

std::unique_ptr<llvm::TargetMachine> make_machine(const clang::TargetOptions& target, int level, std::string& log) {
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.Triple, log);
  if (!found) return nullptr;
  std::string features;
  for (const std::string& feature : target.FeaturesAsWritten) features += (features.empty() ? "" : ",") + feature;
  llvm::TargetOptions options;
  options.FunctionSections = options.DataSections = true;  // lets the loader keep only what a kernel reaches
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // A tile's loop that starts inside a cache line takes up to 1.06 times as long on Granite Rapids. PTX has no such
  // directive.
  if (llvm::Triple(target.Triple).isX86()) options.LoopAlignment = 64;
  // A JIT defaults to the large code model, which is slower to compile and to run.
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(target.Triple, target.CPU, features, options,
                                                                         llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                         static_cast<llvm::CodeGenOptLevel>(level)));
}

/// Appends the instrumentation. The loader skips the constructors that would register the module's globals.
void add_sanitizer(int sanitizer, llvm::ModulePassManager& passes) {
  if (sanitizer == SINTER_CLANG_ADDRESS) {
    llvm::AddressSanitizerOptions options;
    options.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
    options.InstrumentationWithCallsThreshold = 32;  // inline checks make large bodies compile for minutes
    passes.addPass(llvm::AddressSanitizerPass(options));
  }
  if (sanitizer == SINTER_CLANG_THREAD)
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
}

}  // namespace

std::string worker_key(const SinterClangRequest& request) {
  std::string key = std::to_string(request.codegen_level);
  for (size_t i = 0; i < request.arg_count; ++i) key += std::string("\n") + request.args[i];
  return key;
}

std::unique_ptr<Worker> Worker::create(const SinterClangRequest& request, std::string& log) {
  llvm::raw_string_ostream stream(log);
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  auto printer = std::make_unique<clang::TextDiagnosticPrinter>(stream, options.get());
  clang::DiagnosticsEngine diagnostics(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), options, printer.get(),
                                       false);

  auto invocation = std::make_shared<clang::CompilerInvocation>();
  std::vector<const char*> args(request.args, request.args + request.arg_count);
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, args, diagnostics)) return nullptr;
  invocation->getCodeGenOpts().DisableLLVMPasses = true;  // compile() runs its own
  invocation->getCodeGenOpts().VerifyModule = false;      // Clang's own output is trusted
  invocation->getFrontendOpts().DisableFree = false;      // cc1's shortcut would leak every compile

  auto worker = std::unique_ptr<Worker>(new Worker);
  worker->key_ = worker_key(request);
  worker->machine_ = make_machine(invocation->getTargetOpts(), request.codegen_level, log);
  worker->invocation_ = std::move(invocation);
  return worker->machine_ ? std::move(worker) : nullptr;
}

SinterClangResult Worker::compile(const SinterClangRequest& request, llvm::SmallVectorImpl<char>& object,
                                  std::string& log) {
  const clang::InputKind kind = invocation_->getFrontendOpts().DashX;
  // Named like a file: Clang asks for the main file's name before it instruments a function, and line tables contain
  // it.
  const char* name = kind.getLanguage() == clang::Language::CUDA ? "kernels.cu" : "kernels.c";
  auto buffer = llvm::MemoryBuffer::getMemBuffer({request.source, request.source_size}, name);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  {
    llvm::raw_string_ostream stream(log);
    clang::CompilerInstance instance;
    instance.setInvocation(std::make_shared<clang::CompilerInvocation>(*invocation_));
    instance.getFrontendOpts().Inputs = {{name, kind}};
    instance.getPreprocessorOpts().addRemappedFile(name, buffer.get());
    instance.getPreprocessorOpts().RetainRemappedFileBuffers = true;  // owned by `buffer`
    instance.createDiagnostics(new clang::TextDiagnosticPrinter(stream, &instance.getDiagnosticOpts()), true);
    instance.setVerboseOutputStream(llvm::nulls());  // keeps "2 errors generated." off stderr
    clang::EmitLLVMOnlyAction action(&context);
    if (!instance.ExecuteAction(action)) return SINTER_CLANG_BAD_SOURCE;
    module = action.takeModule();
  }
  if (!module) return SINTER_CLANG_BAD_SOURCE;

  auto owned_handler = std::make_unique<LogHandler>(log);
  const LogHandler& handler = *owned_handler;
  context.setDiagnosticHandler(std::move(owned_handler));
  module->setDataLayout(machine_->createDataLayout());
  // Instruments nothing, since the pass is not run. It only forbids speculative loads: a simulator that checks every
  // access would see them read uninitialized memory.
  if (request.output == SINTER_CLANG_ASSEMBLY)
    for (llvm::Function& f : *module) f.addFnAttr(llvm::Attribute::SanitizeThread);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine_.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, request.passes)) {
    log += "pass pipeline: " + llvm::toString(std::move(error));
    return SINTER_CLANG_BROKEN;
  }
  add_sanitizer(request.sanitizer, passes);
  passes.run(*module, modules);
  if (handler.HasErrors) return SINTER_CLANG_BAD_SOURCE;

  llvm::legacy::PassManager emit;
  llvm::raw_svector_ostream out(object);
  const bool assembly = request.output == SINTER_CLANG_ASSEMBLY;
  const auto form = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine_->addPassesToEmitFile(emit, out, nullptr, form)) {
    log += assembly ? "this target writes no assembly" : "this target writes no object files";
    return SINTER_CLANG_BROKEN;
  }
  emit.run(*module);
  return handler.HasErrors ? SINTER_CLANG_BAD_SOURCE : SINTER_CLANG_OK;
}

}  // namespace sinter_clang

// One compile inside the plugin: Clang's front end, a pass pipeline, LLVM's back end. A Worker is not thread-safe: each
// thread borrows its own (clang_entry.cpp).
#pragma once

#include <clang/Frontend/CompilerInvocation.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "sinter_clang.h"

namespace sinter_clang {

/// Thrown by the fatal error handler, so that LLVM's report_fatal_error does not end the process. The worker that
/// raised it is leaked: its state is unknown.
struct FatalError {
  std::string message;
};

/// The state shared by all compiles with one set of arguments.
class Worker {
 public:
  /// Null if Clang rejects the arguments; `log` then has the reason.
  static std::unique_ptr<Worker> create(const SinterClangRequest& request, std::string& log);

  SinterClangResult compile(const SinterClangRequest& request, llvm::SmallVectorImpl<char>& object, std::string& log);
  const std::string& key() const { return key_; }

 private:
  std::string key_;
  std::shared_ptr<const clang::CompilerInvocation> invocation_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

/// The arguments as one text. Requests with equal keys can share a worker.
std::string worker_key(const SinterClangRequest& request);

}  // namespace sinter_clang

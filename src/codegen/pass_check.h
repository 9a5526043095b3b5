// Checks graph-to-graph passes against the interpreter (SINTER_CHECK=1).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "runtime/exec/array.h"

namespace sinter::codegen {

/// Interprets a kernel on sampled buffer contents and requires every later form of it to store the same bits.
class PassCheck {
 public:
  /// Limit of node evaluations (about a second) above which a kernel is not interpreted.
  static constexpr double kMaxEvaluations = 1 << 21;

  /// The check stays inactive without SINTER_CHECK=1, and for a kernel that takes too long to interpret.
  explicit PassCheck(const Kernel& kernel);

  /// Throws InternalError unless `sink` stores the same bits in all buffers and raises no new error.
  void require_same_stores(UOp sink, std::string_view pass) const;
  /// Makes `sink` the new reference. For passes that may change the rounding.
  void rebase(UOp sink);

 private:
  struct KernelOutput {
    std::vector<runtime::Array> buffers;
    uint32_t error = 0;
  };
  KernelOutput run(UOp sink) const;

  bool active_ = false;
  std::string kernel_;
  std::map<std::string, int64_t> vars_;
  std::vector<ir::Scalar> args_;
  std::vector<runtime::Array> sampled_inputs_;  ///< by slot
  KernelOutput expected_;
};

}  // namespace sinter::codegen

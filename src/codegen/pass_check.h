// The interpreter's word on passes that make a kernel of a kernel (SINTER_CHECK=1).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "runtime/exec/array.h"

namespace sinter::codegen {

/// Knows what a kernel stores, for sampled contents of its buffers, and holds every later form of it to that.
class PassCheck {
 public:
  /// Evaluations of nodes above which a kernel is not interpreted: about a second.
  static constexpr double kMostEvaluations = 1 << 21;

  /// Does nothing, now and later, without SINTER_CHECK=1 and for a kernel that takes too long.
  explicit PassCheck(const Kernel& kernel);

  /// Throws InternalError unless `sink` stores the same bits in all buffers, and raises no error that it did not raise.
  void require_same_stores(ir::UOp sink, std::string_view pass) const;
  /// After a pass that may round otherwise: its result is what later ones are held to.
  void rebase(ir::UOp sink);

 private:
  struct KernelOutput {
    std::vector<runtime::Array> buffers;
    uint32_t error = 0;
  };
  KernelOutput run(ir::UOp sink) const;

  bool active_ = false;
  std::string kernel_;
  std::map<std::string, int64_t> vars_;
  std::vector<ir::Scalar> args_;
  std::vector<runtime::Array> sampled_inputs_;  ///< contents of the buffers
  KernelOutput expected_;
};

}  // namespace sinter::codegen

// The notice that a program is compiled again and again because a size changes from call to call.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/origin.h"
#include "plan/plan_lookup.h"

namespace sinter::tensor {

/// A program for which a plan is made. The third one of a call site that differs from the two before in sizes only is
/// said on stderr: the line, the tensor, and that a Var has one plan for all sizes. Once per call site;
/// SINTER_NOTICES=0 never. Programs differ in sizes only if the same lines built them from the same parameters. Tensors
/// of several sizes that were there before the first of these plans, such as the entries of a file, are no case of it,
/// unless the programs also have a parameter or another value in common; nor are programs that read nothing and make
/// tensors of several sizes.
class RecompileNotice {
 public:
  /// Inside the GraphScope in which the program was parametrised, as it is not kept.
  explicit RecompileNotice(const plan::PlanInstance& program);
  /// The plan is made, in so many seconds. Inside a GraphScope.
  void record_compile(double seconds) &&;

 private:
  /// A memory that the plan reads.
  struct PlanInput {
    uint64_t value = 0;      ///< id of its node: the same in two plans that read the same value
    uint64_t parameter = 0;  ///< 0: none; the same for all versions of a parameter
    Shape shape;
    const ir::NodeOrigin* origin = nullptr;
    bool same(const PlanInput& other) const {
      return value == other.value || (parameter && parameter == other.parameter);
    }
  };
  struct ProgramGroup;
  struct Registry;
  void collect_inputs(const plan::CanonicalProgram& plan);
  uint64_t group_of(const plan::PlanInstance& program) const;

  const ir::NodeOrigin& site_;
  const runtime::Hash128 key_;
  uint64_t group_ = 0;  ///< the same where sizes alone differ
  std::vector<PlanInput> inputs_;
  uint64_t newest_ = 0;  ///< id of the last node that it is made of
  bool enabled_ = false;
};

}  // namespace sinter::tensor

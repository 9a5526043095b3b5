// The notice that a program is compiled repeatedly because a size changes from call to call.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/origin.h"
#include "plan/plan_lookup.h"

namespace sinter::tensor {

/// Watches the plans that are made at a call site. When a third plan differs from the two before in sizes only, it
/// prints a notice on stderr, once per call site: the line, the tensor, and that a Var has one plan for all sizes.
/// SINTER_NOTICES=0 disables it.
/// Programs differ in sizes only if the same lines built them from the same parameters. Two cases do not count: tensors
/// of several sizes that existed before the first plan, such as the entries of a file, unless the programs share a
/// parameter or another value; and programs that read nothing and make tensors of several sizes.
class RecompileNotice {
 public:
  /// Inside the GraphScope in which the program was parametrized: it is not kept.
  explicit RecompileNotice(const plan::PlanInstance& instance);
  /// Records that the plan was made, and the seconds it took. Inside a GraphScope.
  void record_compile(double seconds) &&;

 private:
  /// A memory that the plan reads.
  struct PlanInput {
    uint64_t value = 0;      ///< id of its node: equal in two plans that read the same value
    uint64_t parameter = 0;  ///< equal for all versions of a parameter; 0: not a parameter
    Shape shape;
    const ir::NodeOrigin* origin = nullptr;
    bool same(const PlanInput& other) const {
      return value == other.value || (parameter && parameter == other.parameter);
    }
  };
  struct ProgramGroup;
  struct Registry;
  void collect_inputs(const plan::CanonicalProgram& plan);
  uint64_t group_of(const plan::PlanInstance& instance) const;

  const ir::NodeOrigin& site_;
  const runtime::Hash128 key_;
  uint64_t group_ = 0;  ///< hash of the program without sizes
  uint64_t sizes_ = 0;  ///< hash of all sizes
  std::vector<PlanInput> inputs_;
  uint64_t newest_ = 0;  ///< id of the newest node of the program
  bool enabled_ = false;
};

}  // namespace sinter::tensor

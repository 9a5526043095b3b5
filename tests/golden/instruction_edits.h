// Deliberate faults in the instructions of a kernel for a GPU, made mechanically.
#pragma once

#include <string>
#include <vector>

#include "codegen/ssa/instructions.h"

namespace golden {

struct InstructionEdit {
  std::string what;
  sinter::codegen::Instructions code;  ///< with the edit
};

/// Every edit that can show. Left out are what changes no result whatever the numbers are: a bound that lets no further
/// value pass, and the first value of a register that is written before each read.
std::vector<InstructionEdit> instruction_edits(const sinter::codegen::Instructions& code);

}  // namespace golden

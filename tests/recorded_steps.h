// Steps of a tensor core that an H100 computed; tests/data/README.md has the format.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/mma_step.h"

namespace sinter::testing {

struct RecordedStep {
  uint32_t kind;
  std::array<uint32_t, 8> a, b;  ///< elements in order of k, as a thread's registers have them
  uint32_t c, result;            ///< float32
};
static_assert(sizeof(RecordedStep) == 19 * 4);

/// All steps of one instruction.
struct RecordedSteps {
  std::string name;
  ir::MmaOperand type;
  std::vector<RecordedStep> steps;
};

/// One for each type of floats. Throws std::runtime_error if the file is not as it should be.
std::vector<RecordedSteps> recorded_steps();

/// The elements of 8 words, each in a word.
std::vector<uint32_t> elements_of(ir::MmaOperand type, const std::array<uint32_t, 8>& words);

}  // namespace sinter::testing

// The programs whose way through the compiler is kept as text.
#pragma once

#include <string>
#include <vector>

#include "sinter/sinter.h"

namespace golden {

struct Program {
  std::string name;
  std::vector<sinter::Tensor> (*build)();  ///< what is asked for
};

const std::vector<Program>& programs();

}  // namespace golden

#include "nn/optim_terms.h"

#include <cmath>

#include "tensor/core/cell.h"

namespace sinter::inline v0::optim {

using namespace tensor;

void check_settings(std::string_view rule, Settings settings, Loc where) {
  for (const auto& [name, value] : settings)
    if (!(value >= 0) || std::isinf(value))
      usage_error_at(where, "{}: {} is {}; give a finite number from 0 on", rule, name, value);
}

void check_shares(std::string_view rule, Settings settings, Loc where) {
  for (const auto& [name, value] : settings)
    if (!(value >= 0 && value < 1)) usage_error_at(where, "{}: {} is {}; give a number in [0, 1)", rule, name, value);
}

}  // namespace sinter::inline v0::optim

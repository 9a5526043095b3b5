#include "nn/optim_terms.h"

#include <fmt/core.h>

#include <cmath>

namespace sinter {
inline namespace v0 {
namespace optim {

void check_settings(std::string_view rule, Settings settings, Loc where) {
  for (const auto& [name, value] : settings)
    if (!(value >= 0) || std::isinf(value))
      throw UsageError(fmt::format("{}: {} is {}; give a finite number from 0 on", rule, name, value), where);
}

void check_shares(std::string_view rule, Settings settings, Loc where) {
  for (const auto& [name, value] : settings)
    if (!(value >= 0 && value < 1))
      throw UsageError(fmt::format("{}: {} is {}; give a number in [0, 1)", rule, name, value), where);
}

}  // namespace optim
}  // namespace v0
}  // namespace sinter

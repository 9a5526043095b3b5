// Cases of a row with other sizes, and what PyTorch makes of them.
#pragma once

#include <optional>

#include "surface/row.h"

namespace surface {

/// The inputs of a case made of another one.
struct OddCase {
  std::vector<Input> inputs;
  size_t of;  ///< the row's case
};

/// The cases of a row with each of their sizes in turn 0, 1 and a prime, wherever it stands in the case; with all sizes
/// 1; and behind leading axes, which make the rank 8. In place of their first case elementwise functions are called on
/// shapes of several ranks.
std::vector<OddCase> odd_cases(const Row& row);

/// A case with all sizes 1.
std::vector<Input> of_ones(std::vector<Input> inputs);

/// What a call gives.
struct Outcome {
  std::vector<std::vector<int64_t>> shapes;    ///< of the results
  std::vector<std::vector<double>> results;    ///< their elements
  std::vector<std::vector<double>> gradients;  ///< of each input of numbers; none if the row has none
};

/// What PyTorch makes of odd_cases(): record_surface.py writes it as two lists of numbers. Nothing where it refuses.
std::vector<std::optional<Outcome>> recorded_outcomes(const std::vector<double>& layout,
                                                      const std::vector<double>& values);

}  // namespace surface

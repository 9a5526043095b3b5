// The cases of the benchmark in Sinter, as a user would write them: only the public headers.
#pragma once

#include <sinter/sinter.h>

#include <map>
#include <string>

#include "worker.h"

namespace bench {

/// uniform() as a tensor that is stored.
sinter::Tensor input(const sinter::Shape& shape, uint32_t seed);
/// Waits for the default device.
void finish();
/// A case that computes f() again and again.
Work evaluate(std::function<sinter::Tensor()> f);

std::map<std::string, Family> products();      ///< matrix products, the same loops in other words, attention
std::map<std::string, Family> convolutions();  ///< and their gradients
std::map<std::string, Family> streams();       ///< elementwise chains, rows, sums, transposition
std::map<std::string, Family> trainings();     ///< steps of training, a forward pass
std::map<std::string, Family> networks();      ///< whole networks as people write them
std::map<std::string, Family> host();          ///< calls, walks, launches

}  // namespace bench

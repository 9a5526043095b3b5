// The cases of the benchmark in Sinter, as a user would write them: only the public headers.
#pragma once

#include <sinter/sinter.h>

#include <map>
#include <string>
#include <vector>

#include "worker.h"

namespace bench {

/// uniform(), rounded to the type, as a tensor that is stored.
sinter::Tensor input(const sinter::Shape& shape, uint32_t seed, sinter::DType type = sinter::float32);
/// Waits for the default device.
void finish();
/// A case that computes f() again and again.
BenchCase evaluate(std::function<sinter::Tensor()> f);
/// The same of several results, in one plan.
BenchCase evaluate_all(std::function<std::vector<sinter::Tensor>()> f);

std::map<std::string, CaseFamily> products();      ///< matrix products, the same loops in other words, attention
std::map<std::string, CaseFamily> convolutions();  ///< and their gradients
std::map<std::string, CaseFamily> streams();       ///< elementwise chains, rows, sums, transposition
std::map<std::string, CaseFamily> orders();        ///< sorting, scans
std::map<std::string, CaseFamily> programs();      ///< numerical programs as people write them
std::map<std::string, CaseFamily> trainings();     ///< steps of training, a forward pass
std::map<std::string, CaseFamily> networks();      ///< whole networks as people write them
std::map<std::string, CaseFamily> decoders();      ///< a token of a network that writes
std::map<std::string, CaseFamily> host();          ///< calls, walks, launches

}  // namespace bench

// Which op of the graph met which element type in random programs, and which pairs they must meet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sinter/tensor.h"

namespace fuzz {

class Coverage {
 public:
  /// Counts the nodes behind a value that no value before has counted.
  void count(const sinter::Tensor& value);
  /// An op of the table of random programs was drawn.
  void count_case(const std::string& name) { ++cases_[name]; }

  /// A line per op: how often on which type.
  std::string table() const;
  /// The pairs of op and type that a user can write and that were not met, a line each. What counts as one follows from
  /// ops.def; the exceptions are listed with their reasons.
  std::string missing() const;
  const std::map<std::string, int>& cases() const { return cases_; }

 private:
  std::map<std::pair<std::string, sinter::DType>, int> met_;
  std::map<std::string, int> cases_;
  uint64_t counted_ = 0;  ///< nodes up to this id
};

}  // namespace fuzz

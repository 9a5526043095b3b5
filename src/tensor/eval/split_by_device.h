// Splits a program that spans devices into plans of one device each. A COPY needs its source stored first.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"

namespace sinter::tensor {

/// The plans that can run next in a program that spans devices.
struct DeviceSplit {
  std::vector<std::vector<ir::UOp>> plans;  ///< roots of each, all on one device; the plans are independent
  bool copies = false;                      ///< a single plan, whose roots are COPYs of stored values
  bool last = false;                        ///< these plans compute all roots
};

/// Takes roots without storage; no node behind them is claimed. A reshape that is to be copied gets the memory of its
/// base. Inside a GraphScope.
DeviceSplit split_by_device(std::span<const ir::UOp> roots);

}  // namespace sinter::tensor

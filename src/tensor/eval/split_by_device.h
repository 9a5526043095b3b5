// A program that spans devices becomes several plans, each for one device: a COPY needs its source stored first.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"

namespace sinter::tensor {

/// What can run next of a program that spans devices.
struct DeviceSplit {
  std::vector<std::vector<ir::UOp>> plans;  ///< roots of each, all on one device; they need nothing of each other
  bool copies = false;                      ///< one plan, whose roots are COPYs of values that have storage
  bool last = false;                        ///< with these plans all roots are computed
};

/// Of roots without storage. No node behind them is claimed. A reshape that is to be copied gets the memory of what it
/// is a reshape of. Inside a GraphScope.
DeviceSplit split_by_device(std::span<const ir::UOp> roots);

}  // namespace sinter::tensor

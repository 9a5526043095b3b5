// The lines that DEBUG=1 and DEBUG=2 print about a run.
#pragma once

#include <memory>

#include "runtime/exec/launch_observer.h"

namespace sinter::runtime {

/// DEBUG=2 prints a line per launch with its share of the roofline: what was measured on the CPU, what clocks and
/// widths permit on a GPU. DEBUG=1 prints a line per run and, on the CPU, one per launch above 5 ms and below 5 % of
/// its bound, with the call that made it.
std::unique_ptr<LaunchObserver> make_launch_log(const PlanExecution& execution);

}  // namespace sinter::runtime

// Plan graphs as text: what a run of the scheduler was given, to be given to it again by another build.
#pragma once

#include <string>
#include <string_view>

#include "schedule/schedule.h"

namespace replay {

/// A plan as the scheduler got it.
struct RecordedPlan {
  sinter::schedule::PlanGraph graph;
  sinter::schedule::Policy policy;
};

/// A line that says how many slots, arguments and variables there are and where outputs may be written in place, then
/// the graph as ir::dump() writes it: its roots are the outputs, slots, arguments and variables, in this order. Adds
/// nodes to the graph.
std::string to_text(const sinter::schedule::PlanGraph& graph, sinter::schedule::Policy policy);

/// The plan of such a text. Throws UsageError for another one.
RecordedPlan parse_plan(std::string_view text);

/// How a plan's text begins; no other line of it does.
inline constexpr std::string_view kHead = "plan ";

}  // namespace replay

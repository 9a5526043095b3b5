// One sink for everything that rewrites do: DEBUG=6 prints it, tests count it.
#pragma once

#include <functional>
#include <source_location>

#include "ir/graph.h"

namespace sinter::ir {

/// One rule fired. The nodes are valid during the call.
struct RewriteEvent {
  const char* pass;
  const char* rule;
  UOp before, after;
  std::source_location where;  ///< of the rule
};

using RewriteSink = std::function<void(const RewriteEvent&)>;

/// Installs a sink for the whole process (null for none) and returns the one before. Runs that have begun keep theirs.
/// The sink is called by one thread at a time.
RewriteSink set_rewrite_sink(RewriteSink sink);

}  // namespace sinter::ir

// One sink for all rewrites: DEBUG=6 prints them, tests count them.
#pragma once

#include <functional>
#include <source_location>

#include "ir/graph.h"

namespace sinter::ir {

/// A rule fired. The nodes are valid during the call.
struct RewriteEvent {
  const char* pass;
  const char* rule;
  UOp before, after;
  std::source_location where;  ///< of the rule
};

using RewriteSink = std::function<void(const RewriteEvent&)>;

/// Installs a process-wide sink (null for none) and returns the previous one. Running rewrites keep theirs. Calls of
/// the sink are serialized.
RewriteSink set_rewrite_sink(RewriteSink sink);

}  // namespace sinter::ir

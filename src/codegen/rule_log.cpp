// Bridges the rewrite engine, which does not depend on the log, to the log.
#include "codegen/rule_log.h"

#include <fmt/core.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "ir/dump.h"
#include "rewrite/trace.h"
#include "runtime/base/log.h"

namespace sinter::codegen {

void log_rules() {
  if (!runtime::logging(6)) return;
  static std::once_flag once;
  std::call_once(once, [] {
    ir::RewriteSink before = ir::set_rewrite_sink([](const ir::RewriteEvent& e) {
      std::string_view file = e.where.file_name();
      file.remove_prefix(file.rfind('/') + 1);
      runtime::log(6, fmt::format("{}: {} ({}:{})  {} -> {}", e.pass, e.rule, file, e.where.line(),
                                  ir::describe(e.before), ir::describe(e.after)));
    });
    if (before) ir::set_rewrite_sink(std::move(before));
  });
}

}  // namespace sinter::codegen

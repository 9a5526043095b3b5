// The programs of this process by their keys, so that a plan which is made again loads nothing.
#pragma once

#include <memory>

#include "runtime/program/program.h"

namespace sinter::runtime {

/// Null if it is not held.
std::shared_ptr<const Program> find_program(const Hash128& key);

/// Holds the program, and returns the one to use: another thread may have been first with the same. Programs that
/// nobody else refers to are bounded in number, the oldest go.
std::shared_ptr<const Program> intern_program(std::shared_ptr<const Program> program);

}  // namespace sinter::runtime

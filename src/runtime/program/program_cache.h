// This process's programs by key, so a plan that is built again loads nothing.
#pragma once

#include <memory>

#include "runtime/program/program.h"

namespace sinter::runtime {

/// Null if there is no such program.
std::shared_ptr<const Program> find_program(const Hash128& key);

/// Stores the program and returns the one to use, since another thread may have stored an equal one first. The number
/// of unreferenced programs is bounded; the least recently used are evicted.
std::shared_ptr<const Program> intern_program(std::shared_ptr<const Program> program);

}  // namespace sinter::runtime

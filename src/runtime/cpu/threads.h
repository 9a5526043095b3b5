// Starting threads of our own.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace sinter::runtime::cpu {

/// Adds up to `count` threads to `threads`, which run work(0), work(1), ...: fewer where the system has no more, so that
/// those that started must share the work. They take no signals: those are for the program's own threads. Throws
/// std::bad_alloc before any has started.
void start_threads(std::vector<std::thread>& threads, int count, const std::function<void(int)>& work);

}  // namespace sinter::runtime::cpu

// Starting threads of our own.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace sinter::runtime::cpu {

/// Adds up to `count` threads to `threads`, which run work(0), work(1), ...: fewer where the system has no more, so
/// that those that started must share the work. They take no signals: those are for the program's own threads. Throws
/// std::bad_alloc before any has started.
void start_threads(std::vector<std::thread>& threads, int count, const std::function<void(int)>& work);

/// Calls work(0) to work(count - 1), each once, on up to `threads` new threads, and waits for all. What one of them
/// throws is thrown on, and the rest may be left out then. For compilers: these threads have stacks of 8 MiB, whatever
/// the caller's is. Where none starts, the calling thread does the work.
void run_in_parallel(size_t count, int threads, const std::function<void(size_t)>& work);

}  // namespace sinter::runtime::cpu

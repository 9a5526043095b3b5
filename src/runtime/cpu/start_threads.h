// Starting the library's own threads.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/base/target.h"

namespace sinter::runtime::cpu {

/// Appends up to `count` threads to `threads`, which run work(0), work(1), ... If the system has no more threads, fewer
/// start, and those must share the work. They block all signals, which belong to the program's own threads. Throws
/// std::bad_alloc before any thread has started.
void start_threads(std::vector<std::thread>& threads, int count, const std::function<void(int)>& work);

/// Threads for what the process waits for, such as the compilation of a plan: as many as the target's kernels get, or
/// two, if the process may use so many CPUs. For a GPU all of these CPUs. At most 16.
int helper_threads(const Target& target);

/// Calls work(0) to work(count - 1), each once, on up to `threads` new threads, and waits for all of them. The
/// exception of the first call that throws one is rethrown, and calls after it may be skipped. For compilers: these
/// threads have stacks of 8 MiB, whatever the caller's stack is. If no thread starts, the calling thread does the work.
void run_in_parallel(size_t count, int threads, const std::function<void(size_t)>& work);

}  // namespace sinter::runtime::cpu

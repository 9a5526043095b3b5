// System memory in whole pages, backed by huge pages. The TLB covers few small pages, and lines of one huge page do not
// conflict in a cache smaller than that page.
#pragma once

#include <cstddef>

namespace sinter::runtime::cpu {

/// Zeroed, page-aligned memory of `size` bytes, rounded up to whole pages. Requests below two huge pages are cut from
/// larger chunks. One thread at a time. Null if the system is out of memory.
void* map_pages(size_t size);

/// Unmaps what map_pages(size) returned.
void unmap_pages(void* start, size_t size);

}  // namespace sinter::runtime::cpu

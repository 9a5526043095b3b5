// Memory from the system in whole pages, on huge ones: a core holds the places of few small pages, and lines of one
// huge page never compete for the same sets of a cache that is smaller than it.
#pragma once

#include <cstddef>

namespace sinter::runtime::cpu {

/// Zeros, of which `size` bytes, and no fewer than those of the last page, may be used; page-aligned. Pieces below two
/// huge pages are cut from larger ones, by one thread at a time. Null if the system has no memory.
void* map_pages(size_t size);

/// Gives back what map_pages(size) returned.
void unmap_pages(void* start, size_t size);

}  // namespace sinter::runtime::cpu

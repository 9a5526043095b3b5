// Identifies the sources this library was built from. cmake/build_id.cmake writes the definition.
#pragma once

namespace sinter::runtime {

/// Hash of all sources, as hex digits.
const char* build_id();

}  // namespace sinter::runtime

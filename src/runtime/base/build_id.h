// Which sources this library was built of. cmake/build_id.cmake writes the definition.
#pragma once

namespace sinter::runtime {

/// A hash of all sources as hex digits.
const char* build_id();

}  // namespace sinter::runtime

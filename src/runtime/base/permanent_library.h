// Libraries that stay open to the end of the process: compilers and devices, which threads use while exit() runs.
#pragma once

#include <string>

namespace sinter::runtime {

/// dlopen(), with every symbol bound and none exported. Static objects that the library, or one that it brings along,
/// constructs after this call are never destroyed; those that loading constructs are destroyed as ever. Null on
/// failure, with dlerror() set.
void* open_permanent_library(const std::string& path);

}  // namespace sinter::runtime

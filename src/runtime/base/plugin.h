// Where the libraries lie that this one opens when it needs them: the Clang plugin, the simulated GPU.
#pragma once

#include <string>
#include <vector>

namespace sinter::runtime {

/// Existing files of a plugin ("libsinter_clang.so"), in search order: beside the program or library that contains this
/// code, in its ../lib, in the dynamic linker's search path, and where the build installs plugins.
std::vector<std::string> plugin_files(const std::string& name);

/// These places, for messages: "beside this program, in its ../lib, where the loader searches, or in /usr/local/lib".
std::string plugin_places();

}  // namespace sinter::runtime

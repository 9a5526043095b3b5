// Where the sources lie, for tests that read files of the repository.
#pragma once
#include <string>

/// The path of a file, given relative to the root of the repository. (A function in one file, not a macro: other
/// objects do not depend on where the tree lies.)
std::string repository_path(const std::string& relative);

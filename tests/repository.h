// Where the sources lie, for tests that read files of the repository.
#pragma once
#include <regex>
#include <set>
#include <string>

/// The path of a file, given relative to the root of the repository. (A function in one file, not a macro: other
/// objects do not depend on where the tree lies.)
std::string repository_path(const std::string& relative);

/// The text of such a file.
std::string repository_text(const std::string& relative);

/// What the first group of the pattern matches, in each line of the file.
std::set<std::string> names_in(const std::string& relative, const std::regex& pattern);

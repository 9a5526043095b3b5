#include "repository.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

std::string repository_path(const std::string& relative) {
  const char* root = std::getenv("TEST_ROOT");  // of the folder that ./dev dist packed, where the tree is not
  return std::string(root ? root : SINTER_SOURCE_DIR) + "/" + relative;
}

std::string repository_text(const std::string& relative) {
  std::ifstream in(repository_path(relative));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::set<std::string> names_in(const std::string& relative, const std::regex& pattern) {
  std::set<std::string> names;
  std::istringstream lines(repository_text(relative));
  for (std::string line; std::getline(lines, line);)
    for (std::sregex_iterator found(line.begin(), line.end(), pattern), end; found != end; ++found)
      names.insert((*found)[1]);
  return names;
}

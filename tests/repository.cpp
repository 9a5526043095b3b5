#include "repository.h"

#include <cstdlib>

std::string repository_path(const std::string& relative) {
  const char* root = std::getenv("TEST_ROOT");  // of the folder that ./dev dist packed, where the tree is not
  return std::string(root ? root : SINTER_SOURCE_DIR) + "/" + relative;
}

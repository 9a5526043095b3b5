#include "repository.h"

std::string repository_path(const std::string& relative) { return std::string(SINTER_SOURCE_DIR "/") + relative; }

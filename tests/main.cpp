// The entry point of every test executable.
#include "repository.h"

std::string repository_path(const std::string& relative) { return std::string(SINTER_SOURCE_DIR "/") + relative; }

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include "skip.h"

#include <fmt/core.h>

#include <iostream>
#include <map>
#include <set>

#include "listener.h"

namespace {

std::map<std::string, std::set<std::string>> skipped;  ///< names of tests by their reason

struct SkipCount : Listener {
  using Listener::Listener;
  void testRunEnded(const Catch::TestRunStats& run) override {
    std::set<std::string> tests;
    std::string reasons;
    for (const auto& [reason, names] : skipped) {
      tests.insert(names.begin(), names.end());
      reasons += fmt::format("{}{} x{}", reasons.empty() ? "" : ", ", reason, names.size());
    }
    if (!tests.empty())
      std::cout << fmt::format("{} {} skipped: {}", tests.size(), tests.size() == 1 ? "test" : "tests", reasons)
                << std::endl;
    Listener::testRunEnded(run);
  }
};

CATCH_REGISTER_LISTENER(SkipCount)

}  // namespace

void note_skipped(const std::string& reason) {
  const std::string test = Catch::getResultCapture().getCurrentTestName();
  if (skipped[reason].insert(test).second) std::cout << "SKIP: " << reason << ": " << test << std::endl;
}

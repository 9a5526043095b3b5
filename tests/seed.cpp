// Each test case draws from seed 0, so that a new test changes no other one's numbers.
#include <sinter/random.h>

#include "listener.h"

namespace {

struct Seed : Listener {
  using Listener::Listener;
  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    Listener::testCaseStarting(test);
    sinter::manual_seed(0);
  }
};

CATCH_REGISTER_LISTENER(Seed)

}  // namespace

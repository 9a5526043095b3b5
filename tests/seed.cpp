// Each test case draws from seed 0, so that a new test changes no other one's numbers.
#include <sinter/random.h>

#define CATCH_CONFIG_EXTERNAL_INTERFACES  // of 2.13
#include "catch.h"

namespace {

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

struct Seed : Listener {
  using Listener::Listener;
  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    Listener::testCaseStarting(test);
    sinter::manual_seed(0);
  }
};

CATCH_REGISTER_LISTENER(Seed)

}  // namespace

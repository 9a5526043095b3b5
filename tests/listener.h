// The base of what hears of each test, in the version of Catch2 that is installed: 2.13 or 3.
#pragma once
#define CATCH_CONFIG_EXTERNAL_INTERFACES  // of 2.13
#include "catch.h"

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

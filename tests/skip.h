// Tests that cannot run here say so, and a run says how many they were.
#pragma once
#include <string>

/// Prints the reason, once for each test, and counts it for the line at the end of the run.
void note_skipped(const std::string& reason);

/// Leaves a function that returns nothing: a test, one of its lambdas or helpers. What the test checked before stands.
#define SKIP_TEST(reason) \
  do {                    \
    note_skipped(reason); \
    return;               \
  } while (false)

// How many random cases a test tries.
#pragma once

/// `n`, or an eighth under a sanitizer, where a case takes ten times as long and is looked at more closely.
constexpr unsigned cases(unsigned n) { return n / SINTER_TEST_SHARE; }

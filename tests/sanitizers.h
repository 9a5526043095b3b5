// What tests cannot do under a sanitizer. AddressSanitizer and ThreadSanitizer take address space of their own; under the
// first a leak fails the run; the second's own locks do not survive a fork() beside other threads.
#pragma once

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// Ends a test that forks beside other threads where ThreadSanitizer would hang or crash in its own runtime.
#define SKIP_UNDER_THREAD_SANITIZER()                                          \
  if (kThreadSanitizer) {                                                      \
    WARN("skipped: ThreadSanitizer does not support fork() beside threads"); \
    return;                                                                    \
  }                                                                            \
  static_assert(true)

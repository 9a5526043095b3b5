// The sanitizer that this library is built with. The memory it guards: runtime/base/sanitizer.h.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SINTER_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define SINTER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SINTER_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define SINTER_THREAD_SANITIZER 1
#endif
#endif

namespace sinter::ir {

enum class Sanitizer { None, Address, Thread };

#if defined(SINTER_ADDRESS_SANITIZER)
inline constexpr Sanitizer kSanitizer = Sanitizer::Address;
#elif defined(SINTER_THREAD_SANITIZER)
inline constexpr Sanitizer kSanitizer = Sanitizer::Thread;
#else
inline constexpr Sanitizer kSanitizer = Sanitizer::None;
#endif

}  // namespace sinter::ir

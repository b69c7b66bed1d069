// Whether the program contains a sanitizer, which restricts the use of stacks and makes its own system calls.
#ifndef CAUSEWAY_SANITIZED_H
#define CAUSEWAY_SANITIZED_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CW_IS_SANITIZED 1
#endif
#endif

#endif

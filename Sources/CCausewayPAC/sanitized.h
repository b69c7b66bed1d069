// Whether a sanitizer's library is part of the program: it has ideas about stacks, and calls the kernel on its own.
#ifndef CAUSEWAY_SANITIZED_H
#define CAUSEWAY_SANITIZED_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CW_IS_SANITIZED 1
#endif
#endif

#endif

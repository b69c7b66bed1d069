#include "actors.h"

#include <stdint.h>

// Functions of the Swift runtime. The runtime itself uses `swift_findAccessibleFunction` to perform distributed calls.
// Both are weak symbols: with a runtime that lacks them, the program starts, and all calls are refused.
extern const void *swift_findAccessibleFunction(const char *name, size_t length) __attribute__((weak));
extern char *swift_demangle(const char *name, size_t length, char *output, size_t *output_size, uint32_t flags)
    __attribute__((weak));

char *cw_distributed_function(const char *name, size_t length) {
    if (!swift_findAccessibleFunction || !swift_demangle || !swift_findAccessibleFunction(name, length)) return NULL;
    return swift_demangle(name, length, NULL, NULL, 0);
}

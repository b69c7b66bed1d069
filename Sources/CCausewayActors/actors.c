#include "actors.h"

#include <stdint.h>

// Parts of the Swift runtime, which also uses the first one to perform distributed calls. Weak, so that a runtime without them refuses all
// calls instead of preventing the program from starting.
extern const void *swift_findAccessibleFunction(const char *name, size_t length) __attribute__((weak));
extern char *swift_demangle(const char *name, size_t length, char *output, size_t *output_size, uint32_t flags)
    __attribute__((weak));

char *cw_distributed_function(const char *name, size_t length) {
    if (!swift_findAccessibleFunction || !swift_demangle || !swift_findAccessibleFunction(name, length)) return NULL;
    return swift_demangle(name, length, NULL, NULL, 0);
}

// Compares the OpenSSL prototypes and constants that this library declares with those of the installed headers.
#ifndef CAUSEWAY_OPENSSL_HEADERS_H
#define CAUSEWAY_OPENSSL_HEADERS_H

#include <stdbool.h>

typedef struct cw_comparison {
    const char *name;
    bool is_equal;
} cw_comparison;

/// False when no headers of OpenSSL 3 are installed.
bool cw_headers_are_installed(void);
/// Returns comparison number `index`. Its name is NULL if `index` is greater than that of the last comparison.
cw_comparison cw_compare_with_headers(int index);

#endif

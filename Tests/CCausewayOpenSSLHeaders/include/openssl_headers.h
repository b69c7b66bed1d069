// Compares the OpenSSL prototypes and constants that this library declares with those of the installed headers.
#ifndef CAUSEWAY_OPENSSL_HEADERS_H
#define CAUSEWAY_OPENSSL_HEADERS_H

#include <stdbool.h>

typedef struct cw_comparison {
    const char *name;
    bool is_equal;
} cw_comparison;

/// Returns `false` if no OpenSSL 3 headers are installed.
bool cw_headers_are_installed(void);
/// Returns the comparison with the number `index`. If `index` is too large, the name in the result is NULL.
cw_comparison cw_compare_with_headers(int index);

#endif

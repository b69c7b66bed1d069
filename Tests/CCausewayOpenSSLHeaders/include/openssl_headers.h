// Compares the prototypes and numbers that this library calls OpenSSL by with the headers that are installed.
#ifndef CAUSEWAY_OPENSSL_HEADERS_H
#define CAUSEWAY_OPENSSL_HEADERS_H

#include <stdbool.h>

typedef struct cw_comparison {
    const char *name;
    bool is_equal;
} cw_comparison;

/// False when no headers of OpenSSL 3 are installed.
bool cw_headers_are_installed(void);
/// The comparison number `index`; its name is NULL behind the last one.
cw_comparison cw_compare_with_headers(int index);

#endif

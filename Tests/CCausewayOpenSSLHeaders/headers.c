#include "openssl_headers.h"

#include <stddef.h>

#if __has_include(<openssl/ssl.h>)
#include <openssl/opensslv.h>
#endif

#if defined(OPENSSL_VERSION_MAJOR) && OPENSSL_VERSION_MAJOR == 3

#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "../../Sources/CCausewayLibraries/include/openssl_callbacks.h"
#include "../../Sources/CCausewayLibraries/include/openssl_constants.h"
#include "../../Sources/CCausewayLibraries/include/openssl_functions.h"

bool cw_headers_are_installed(void) { return true; }

cw_comparison cw_compare_with_headers(int index) {
    static const cw_comparison comparisons[] = {
#define COMPARE(result, name, parameters, arguments) \
    {#name, __builtin_types_compatible_p(__typeof__(&name), __typeof__(result(*) parameters))},
        CW_CRYPTO_FUNCTIONS(COMPARE)
        CW_SSL_FUNCTIONS(COMPARE)
#undef COMPARE
#define COMPARE(ours, theirs, value) {#theirs, (unsigned long long)(theirs) == (unsigned long long)(ours)},
        CW_CONSTANTS(COMPARE)
        CW_CHAIN_ERRORS(COMPARE)
#undef COMPARE
        {NULL, false},
    };
    return comparisons[index];
}

#else

bool cw_headers_are_installed(void) { return false; }

cw_comparison cw_compare_with_headers(int index) {
    (void)index;
    return (cw_comparison){NULL, false};
}

#endif

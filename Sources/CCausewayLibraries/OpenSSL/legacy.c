#include "causeway_openssl.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>

static const char install_hint[] =
    "NTLM needs MD4, which OpenSSL 3 keeps in its provider \"legacy\". Install it: libssl3 (Debian 12, Ubuntu 22.04), "
    "openssl-provider-legacy (newer ones), openssl-libs (Fedora, RHEL), libopenssl3 (openSUSE), libcrypto3 (Alpine).";

static char problem[768];
static bool is_loaded;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;
// These two digest functions are never freed, like the libraries from which they come.
static EVP_MD *md4;
static EVP_MD *md5;

static void load_now(void) {
    const char *missing = cw_openssl_load();
    if (missing != NULL) {
        snprintf(problem, sizeof problem, "%s", missing);
        return;
    }
    // Use a separate library context for the "legacy" provider. If a provider is loaded by name into the default
    // context, OpenSSL no longer loads its default provider there.
    OSSL_LIB_CTX *context = cw_OSSL_LIB_CTX_new();
    if (context != NULL && cw_OSSL_PROVIDER_load(context, "legacy") != NULL) md4 = cw_EVP_MD_fetch(context, "MD4", NULL);
    md5 = cw_EVP_MD_fetch(NULL, "MD5", NULL);
    is_loaded = md4 != NULL && md5 != NULL;
    if (md4 == NULL) {
        snprintf(problem, sizeof problem, "%s", install_hint);
    } else if (md5 == NULL) {
        snprintf(problem, sizeof problem, "NTLM needs MD5, which the configuration of OpenSSL does not permit.");
    }
    // Clear OpenSSL's errors. Otherwise a connection would report the errors from loading as its own.
    cw_ERR_clear_error();
}

const char *cw_ntlm_digests_load(void) {
    pthread_once(&load_once, load_now);
    return is_loaded ? NULL : problem;
}

bool cw_md4(const void *bytes, size_t count, unsigned char digest[16]) {
    unsigned int length = 0;
    if (cw_EVP_Digest(bytes, count, digest, &length, md4, NULL) == 1 && length == 16) return true;
    cw_ERR_clear_error();
    return false;
}

bool cw_hmac_md5(const void *key, size_t key_count, const void *bytes, size_t count, unsigned char digest[16]) {
    unsigned int length = 0;
    if (key_count <= INT_MAX && cw_HMAC(md5, key, (int)key_count, bytes, count, digest, &length) != NULL && length == 16) {
        return true;
    }
    cw_ERR_clear_error();
    return false;
}

#include "causeway_openssl.h"
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

cw_openssl_table cw_openssl;

static const char install_hint[] =
    "TLS needs OpenSSL 3. Install it: libssl3 (Debian, Ubuntu; libssl3t64 in newer ones), openssl-libs (Fedora, RHEL), "
    "libopenssl3 (openSUSE), libssl3 (Alpine), openssl (Arch).";

// Without OPENSSL_INIT_NO_ATEXIT, OpenSSL frees its tables at process exit while other threads may still use them.
static const uint64_t init_without_atexit = 0x00080000;

struct missing {
    const char *name;
    bool is_found;
};

static void *find(void *library, const char *name, struct missing *missing) {
    void *address = dlsym(library, name);
    if (address == NULL && missing->is_found) {
        missing->is_found = false;
        missing->name = name;
    }
    return address;
}

static bool is_version_right(const cw_openssl_table *table, char *message, size_t capacity) {
    unsigned long version = table->OpenSSL_version_num();
    if (version >> 28 == 3) return true;
    snprintf(message, capacity, "%s The installed version is \"%s\".", install_hint, table->OpenSSL_version(0));
    return false;
}

static bool fill(cw_openssl_table *table, void *crypto, void *ssl, char *message, size_t capacity) {
    struct missing missing = {NULL, true};
    // Converts a data pointer to a function pointer in the way that POSIX specifies for dlsym.
#define CW_FIND_CRYPTO(result, name, parameters, arguments) *(void **)&table->name = find(crypto, #name, &missing);
#define CW_FIND_SSL(result, name, parameters, arguments) *(void **)&table->name = find(ssl, #name, &missing);
    CW_CRYPTO_FUNCTIONS(CW_FIND_CRYPTO)
    if (missing.is_found && !is_version_right(table, message, capacity)) return false;
    CW_SSL_FUNCTIONS(CW_FIND_SSL)
    if (missing.is_found) return true;
    snprintf(message, capacity, "%s The installed version has no function %s.", install_hint, missing.name);
    return false;
}

// The libraries are never unloaded, because they register handlers with the C library.
static bool load(
    cw_openssl_table *table, const char *crypto_name, const char *ssl_name, char *message, size_t capacity) {
    void *crypto = cw_open_library(crypto_name);
    void *ssl = crypto == NULL ? NULL : cw_open_library(ssl_name);
    if (ssl == NULL) {
        const char *reason = dlerror();
        snprintf(message, capacity, "%s (%s)", install_hint, reason == NULL ? "not found" : reason);
        return false;
    }
    return fill(table, crypto, ssl, message, capacity);
}

bool cw_openssl_probe(const char *crypto_name, const char *ssl_name, char *message, size_t capacity) {
    cw_openssl_table table;
    memset(&table, 0, sizeof table);
    return load(&table, crypto_name, ssl_name, message, capacity);
}

static char load_message[512];
static bool is_loaded;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load_now(void) {
    if (!load(&cw_openssl, "libcrypto.so.3", "libssl.so.3", load_message, sizeof load_message)) return;
    if (cw_OPENSSL_init_ssl(init_without_atexit, NULL) != 1) {
        snprintf(load_message, sizeof load_message, "OpenSSL 3 is installed but cannot be initialized.");
        return;
    }
    is_loaded = true;
}

const char *cw_openssl_load(void) {
    pthread_once(&load_once, load_now);
    return is_loaded ? NULL : load_message;
}

int64_t cw_seconds(const ASN1_TIME *time) {
    struct tm parts;
    memset(&parts, 0, sizeof parts);
    if (time == NULL || cw_ASN1_TIME_to_tm(time, &parts) != 1) return INT64_MIN;
    return (int64_t)timegm(&parts);
}

int cw_password(char *buffer, int capacity, int is_writing, void *argument) {
    (void)is_writing;
    if (argument == NULL) return -1;
    size_t count = strlen((const char *)argument);
    if (capacity < 0 || count > (size_t)capacity) return -1;
    memcpy(buffer, argument, count);
    return (int)count;
}

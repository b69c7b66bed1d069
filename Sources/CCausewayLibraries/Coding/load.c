#include "causeway_coding.h"
#include "functions.h"
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

cw_zlib_table cw_zlib;
cw_brotli_table cw_brotli;
cw_zstd_table cw_zstd;

/// A library and its load state in this process.
struct entry {
    const char *name;
    const char *hint;
    char message[512];
    bool is_loaded;
};

static struct entry entries[] = {
    [CW_LIBRARY_ZLIB] = {
        "libz.so.1",
        "The coding gzip needs zlib. Install it: zlib1g (Debian, Ubuntu), zlib or zlib-ng-compat (Fedora, RHEL), libz1 (openSUSE), "
        "zlib (Alpine, Arch).", "", false},
    [CW_LIBRARY_BROTLI] = {
        "libbrotlidec.so.1",
        "The coding br needs brotli. Install it: libbrotli1 (Debian, Ubuntu), libbrotli (Fedora, RHEL), libbrotlidec1 (openSUSE), "
        "brotli-libs (Alpine), brotli (Arch).", "", false},
    [CW_LIBRARY_ZSTD] = {
        "libzstd.so.1",
        "The coding zstd needs libzstd. Install it: libzstd1 (Debian, Ubuntu, openSUSE), libzstd (Fedora, RHEL), zstd-libs (Alpine), "
        "zstd (Arch).", "", false},
};

struct lookup {
    void *library;
    const char *missing;
};

static void *find(struct lookup *lookup, const char *name) {
    void *address = dlsym(lookup->library, name);
    if (address == NULL && lookup->missing == NULL) lookup->missing = name;
    return address;
}

// Converts a data pointer to a function pointer in the way that POSIX specifies for dlsym.
#define CW_FIND(result, name, parameters) *(void **)&table.name = find(lookup, #name);

static void fill_zlib(struct lookup *lookup, bool keeps) {
    cw_zlib_table table;
    CW_ZLIB_FUNCTIONS(CW_FIND)
    if (keeps) cw_zlib = table;
}

static void fill_brotli(struct lookup *lookup, bool keeps) {
    cw_brotli_table table;
    CW_BROTLI_FUNCTIONS(CW_FIND)
    if (keeps) cw_brotli = table;
}

static void fill_zstd(struct lookup *lookup, bool keeps) {
    cw_zstd_table table;
    CW_ZSTD_FUNCTIONS(CW_FIND)
    if (keeps) cw_zstd = table;
}

// The libraries are never unloaded, because decoders may exist until the process ends.
static bool load(cw_coding_library library, const char *name, bool keeps, char *message, size_t capacity) {
    const char *hint = entries[library].hint;
    struct lookup lookup = {cw_open_library(name), NULL};
    if (lookup.library == NULL) {
        const char *reason = dlerror();
        snprintf(message, capacity, "%s (%s)", hint, reason == NULL ? "not found" : reason);
        return false;
    }
    switch (library) {
    case CW_LIBRARY_ZLIB: fill_zlib(&lookup, keeps); break;
    case CW_LIBRARY_BROTLI: fill_brotli(&lookup, keeps); break;
    case CW_LIBRARY_ZSTD: fill_zstd(&lookup, keeps); break;
    }
    if (lookup.missing == NULL) return true;
    snprintf(message, capacity, "%s The installed version has no function %s.", hint, lookup.missing);
    return false;
}

bool cw_coding_probe(cw_coding_library library, const char *name, char *message, size_t capacity) {
    return load(library, name, false, message, capacity);
}

static void load_entry(cw_coding_library library) {
    struct entry *entry = &entries[library];
    entry->is_loaded = load(library, entry->name, true, entry->message, sizeof entry->message);
}

static void load_zlib(void) { load_entry(CW_LIBRARY_ZLIB); }
static void load_brotli(void) { load_entry(CW_LIBRARY_BROTLI); }
static void load_zstd(void) { load_entry(CW_LIBRARY_ZSTD); }

const char *cw_coding_load(cw_coding_library library) {
    static pthread_once_t zlib_once = PTHREAD_ONCE_INIT, brotli_once = PTHREAD_ONCE_INIT, zstd_once = PTHREAD_ONCE_INIT;
    switch (library) {
    case CW_LIBRARY_ZLIB: pthread_once(&zlib_once, load_zlib); break;
    case CW_LIBRARY_BROTLI: pthread_once(&brotli_once, load_brotli); break;
    case CW_LIBRARY_ZSTD: pthread_once(&zstd_once, load_zstd); break;
    }
    return entries[library].is_loaded ? NULL : entries[library].message;
}

#include "causeway_pac.h"
#include "duktape.h"
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

cw_duk_table cw_duk;

static const char install_hint[] =
    "Proxy scripts (PAC) need Duktape 2.7. Install it: libduktape207 (Debian, Ubuntu), duktape (Fedora, Arch, Alpine), "
    "libduktape207 (openSUSE).";

static bool load(cw_duk_table *table, const char *name, char *message, size_t capacity) {
    // Bind all symbols now, so that the process that runs the script never needs the dynamic linker.
    void *library = cw_open_library(name);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(message, capacity, "%s (%s)", install_hint, reason == NULL ? "not found" : reason);
        return false;
    }
    const char *missing = NULL;
    // Converts a data pointer to a function pointer as POSIX specifies for dlsym.
#define CW_DUK_FIND(result, name, parameters) \
    if ((*(void **)&table->name = dlsym(library, #name)) == NULL && missing == NULL) missing = #name;
    CW_DUK_FUNCTIONS(CW_DUK_FIND)
    if (missing == NULL) return true;
    snprintf(message, capacity, "%s The installed version lacks the function %s.", install_hint, missing);
    return false;
}

bool cw_script_probe(const char *name, char *message, size_t capacity) {
    cw_duk_table table;
    memset(&table, 0, sizeof table);
    return load(&table, name, message, capacity);
}

static char load_message[512];
static bool is_loaded;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load_now(void) { is_loaded = load(&cw_duk, "libduktape.so.207", load_message, sizeof load_message); }

const char *cw_script_load(void) {
    pthread_once(&load_once, load_now);
    return is_loaded ? NULL : load_message;
}

#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The directories of 64-bit libraries in Linux distributions. The most specific directories come first.
static const char *const folders[] = {
#if defined(__x86_64__)
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
    "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
#elif defined(__arm__)
    "/lib/arm-linux-gnueabihf", "/usr/lib/arm-linux-gnueabihf",
#elif defined(__riscv)
    "/lib/riscv64-linux-gnu", "/usr/lib/riscv64-linux-gnu",
#endif
    "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib64", "/usr/local/lib",
};

static void *open_in(const char *folder, size_t length, const char *name) {
    char path[4096];
    // An empty folder would mean the current directory. It is not trusted, and neither are other relative paths.
    if (length == 0 || folder[0] != '/') return NULL;
    int count = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
    if (count < 0 || (size_t)count >= sizeof path || access(path, R_OK) != 0) return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/// Returns whether the program's directory contains a file with this name. For most programs, dlopen also searches this
/// directory, so it may open such a file.
static int lies_beside_program(const char *name) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return 1;
    path[length] = 0;
    char *end = strrchr(path, '/');
    size_t folder = end == NULL ? 0 : (size_t)(end - path) + 1;
    if (end == NULL || folder + strlen(name) >= sizeof path) return 1;
    strcpy(path + folder, name);
    return access(path, F_OK) == 0;
}

void *cw_open_library(const char *name) {
    const char *rest = secure_getenv("LD_LIBRARY_PATH");
    while (rest != NULL && *rest != 0) {
        size_t length = strcspn(rest, ":;");
        void *library = open_in(rest, length, name);
        if (library != NULL) return library;
        rest += length + (rest[length] != 0);
    }
    for (size_t index = 0; index < sizeof folders / sizeof folders[0]; index++) {
        void *library = open_in(folders[index], strlen(folders[index]), name);
        if (library != NULL) return library;
    }
    // Use dlopen's own search, because the system's cache may list more directories. That search begins with the
    // program's search path, which often contains the program's own directory. So fail if that directory contains a
    // file with the library's name.
    if (strchr(name, '/') == NULL && lies_beside_program(name)) {
        // Make dlopen fail with an invalid path. The failed call sets the message that dlerror returns.
        return dlopen("/nonexistent/library-of-the-system", RTLD_NOW);
    }
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

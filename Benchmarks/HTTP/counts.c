// Counts the calls of Swift's reference counting, of the memory allocators and of the clock. There is a count for each
// address from which the calls come. The benchmark http-counts preloads this library into a program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RETAIN, RELEASE, OBJECT, MALLOC, CLOCK, KINDS, SLOTS = 1 << 16, LEAST = 100 };

struct entry {
    uintptr_t caller;
    uint64_t calls, bytes;
};
static struct entry table[KINDS][SLOTS];

static void count(int kind, void *caller, uint64_t bytes) {
    uintptr_t address = (uintptr_t)caller;
    for (uint32_t slot = (address * 0x9E3779B97F4A7C15ull) >> 48;; slot++) {
        struct entry *entry = &table[kind][slot % SLOTS];
        uintptr_t known = __sync_val_compare_and_swap(&entry->caller, 0, address);
        if (known != 0 && known != address) continue;
        __atomic_fetch_add(&entry->calls, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&entry->bytes, bytes, __ATOMIC_RELAXED);
        return;
    }
}

// Defines a function that counts its calls and then calls the original function. The original function has the same
// name, and is in the next library.
#define WRAP(result, name, parameters, arguments, kind, bytes)                             \
    result name parameters {                                                               \
        static result(*next) parameters;                                                   \
        if (!next) next = (result(*) parameters)dlsym(RTLD_NEXT, #name);                   \
        count(kind, __builtin_return_address(0), bytes);                                   \
        return next arguments;                                                             \
    }

WRAP(void *, swift_retain, (void *object), (object), RETAIN, 0)
WRAP(void *, swift_retain_n, (void *object, uint32_t n), (object, n), RETAIN, 0)
WRAP(void *, swift_bridgeObjectRetain, (void *object), (object), RETAIN, 0)
WRAP(void, swift_release, (void *object), (object), RELEASE, 0)
WRAP(void, swift_release_n, (void *object, uint32_t n), (object, n), RELEASE, 0)
WRAP(void, swift_bridgeObjectRelease, (void *object), (object), RELEASE, 0)
WRAP(void *, swift_allocObject, (void *type, size_t size, size_t mask), (type, size, mask), OBJECT, size)
WRAP(int, clock_gettime, (clockid_t clock, struct timespec *time), (clock, time), CLOCK, 0)

// These functions call the C library directly. A lookup of the original function would allocate memory, and so call
// these functions again.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t size) { return count(MALLOC, __builtin_return_address(0), size), __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return count(MALLOC, __builtin_return_address(0), n * size), __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return count(MALLOC, __builtin_return_address(0), size), __libc_realloc(old, size); }

__attribute__((destructor)) static void report(void) {
    static const char *const names[KINDS] = {"retain", "release", "object", "malloc", "clock"};
    const char *path = getenv("COUNTS_OUTPUT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int slot = 0; slot < SLOTS; slot++) {
            struct entry *entry = &table[kind][slot];
            Dl_info info;
            if (entry->calls < LEAST || !dladdr((void *)entry->caller, &info)) continue;
            fprintf(file, "%s %lu %lu %s %lx %s\n", names[kind], entry->calls, entry->bytes, info.dli_fname,
                    entry->caller - (uintptr_t)info.dli_fbase, info.dli_sname ? info.dli_sname : "-");
        }
    }
    fclose(file);
}

#define _GNU_SOURCE
#include "causeway_linux.h"
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// Whether a debugger is attached. A debugger stores breakpoints in the code pages, so dropping these pages would
/// remove the breakpoints.
static int is_traced(void) {
    FILE *file = fopen("/proc/self/status", "re");
    if (!file) return 1;
    char line[256];
    int tracer = 1;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "TracerPid: %d", &tracer) == 1) break;
    }
    fclose(file);
    return tracer != 0;
}

static int release_program(struct dl_phdr_info *program, size_t size, void *context) {
    (void)size;
    (void)context;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int index = 0; index < program->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &program->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || part->p_flags & PF_W) continue;
        uintptr_t start = program->dlpi_addr + part->p_vaddr;
        uintptr_t first = (start + page - 1) / page * page, end = (start + part->p_memsz) / page * page;
        if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
    }
    // Stop after the first entry, which is the program itself. The next entries are libraries, and other processes
    // share their pages.
    return 1;
}

void cw_keep_memory_small(void) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 65536);
    mallopt(M_TRIM_THRESHOLD, 65536);
#endif
}

void cw_keep_freed_memory(void) {
#ifdef __GLIBC__
    // Set the mmap and trim thresholds explicitly, so that they stay constant. By default, glibc raises them when large
    // blocks are freed.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

void cw_release_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    if (!is_traced()) dl_iterate_phdr(release_program, NULL);
}

void cw_memory(uint64_t *peak, uint64_t *current) {
    *peak = *current = 0;
    FILE *file = fopen("/proc/self/status", "re");
    if (!file) return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        unsigned long kibibytes;
        if (sscanf(line, "VmHWM: %lu kB", &kibibytes) == 1) *peak = (uint64_t)kibibytes * 1024;
        if (sscanf(line, "VmRSS: %lu kB", &kibibytes) == 1) *current = (uint64_t)kibibytes * 1024;
    }
    fclose(file);
}

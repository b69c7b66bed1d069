#define _GNU_SOURCE
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define CW_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CW_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static const char *set_limits(unsigned long memory_in_mebibytes, unsigned long seconds) {
    const struct {
        int resource;
        rlim_t value;
    } limits[] = {
        {RLIMIT_AS, (rlim_t)memory_in_mebibytes << 20}, {RLIMIT_CPU, seconds}, {RLIMIT_FSIZE, 0}, {RLIMIT_NPROC, 0},
        {RLIMIT_CORE, 0}, {RLIMIT_NOFILE, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit both = {limits[i].value, limits[i].value};
        if (setrlimit(limits[i].resource, &both) != 0) return "cannot limit the resources of the image decoder (setrlimit)";
    }
    return NULL;
}

#ifdef CW_ARCHITECTURE
#define CW_ALLOW(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
// Permits a system call only if the new memory is not executable. The third argument of the call is the memory
// protection.
#define CW_ALLOW_DATA(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])), \
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// Installs a seccomp filter that permits only the listed system calls. Opening files, making sockets, starting programs
// and sending signals, for example, are not permitted.
static const char *filter_calls(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CW_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        CW_ALLOW(SYS_read), CW_ALLOW(SYS_write), CW_ALLOW(SYS_exit_group), CW_ALLOW(SYS_exit),
        // System calls for memory, locks, random numbers, time and signals.
        CW_ALLOW(SYS_brk), CW_ALLOW(SYS_munmap), CW_ALLOW(SYS_mremap), CW_ALLOW(SYS_madvise), CW_ALLOW(SYS_futex),
        CW_ALLOW(SYS_getrandom), CW_ALLOW(SYS_clock_gettime), CW_ALLOW(SYS_rt_sigprocmask), CW_ALLOW(SYS_rt_sigreturn),
        CW_ALLOW_DATA(SYS_mmap), CW_ALLOW_DATA(SYS_mprotect),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0) return NULL;
    return "cannot confine the image decoder (seccomp)";
}
#else
// On other processor architectures there is no system call filter. The resource limits already keep the decoder from
// creating files, sockets and processes.
static const char *filter_calls(void) { return NULL; }
#endif

const char *cw_image_confine(unsigned long memory_in_mebibytes, unsigned long seconds) {
    // Close all descriptors except 0, which is the socket for requests and replies. Standard output and error are not
    // needed, because the libraries print nothing.
    if (syscall(SYS_close_range, 1U, ~0U, 0U) != 0) return "cannot close the files of the image decoder (close_range)";
    const char *problem = set_limits(memory_in_mebibytes, seconds);
    if (problem != NULL) return problem;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return "cannot confine the image decoder (dumpable)";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "cannot confine the image decoder (no_new_privs)";
    return filter_calls();
}

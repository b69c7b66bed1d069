#define _GNU_SOURCE
#include "confine.h"
#include "sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define CW_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CW_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define CW_ARCHITECTURE AUDIT_ARCH_ARM
#elif defined(__i386__)
#define CW_ARCHITECTURE AUDIT_ARCH_I386
#elif defined(__riscv) && __riscv_xlen == 64
#define CW_ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

// Calls the kernel directly. A sanitizer may replace the library's wrappers for system calls, and its wrappers take
// locks. Another thread may have held such a lock when the process was cloned.
static long call(long number, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    return syscall(number, a, b, c, d, 0UL);
}

static const char *close_everything_but(int *channel) {
    // Move the channel to a descriptor above 2. Libraries write error messages to descriptors 1 and 2, and these must
    // not go to the channel.
    long kept = call(SYS_fcntl, (unsigned long)*channel, F_DUPFD, 3, 0);
    if (kept < 0) return "fcntl";
    *channel = (int)kept;
    if (call(SYS_close_range, 0, (unsigned long)kept - 1, 0, 0) != 0) return "close_range";
    if (call(SYS_close_range, (unsigned long)kept + 1, ~0U, 0, 0) != 0) return "close_range";
    return NULL;
}

// Resets all signals to their default actions, so that this process does not run signal handlers that the program
// installed before the process was cloned.
static const char *forget_signals(void) {
    // The kernel's form of a signal action; all zeros is the default action.
    uint64_t action[8] = {0};
    uint64_t none = 0;
    for (unsigned long signal = 1; signal <= 64; signal++) call(SYS_rt_sigaction, signal, (unsigned long)action, 0, 8);
    return call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (unsigned long)&none, 0, 8) == 0 ? NULL : "sigprocmask";
}

static const char *limit(unsigned seconds) {
    const struct { unsigned long resource; uint64_t value; } limits[] = {
        {RLIMIT_CPU, seconds}, {RLIMIT_NOFILE, 0}, {RLIMIT_FSIZE, 0}, {RLIMIT_NPROC, 0}, {RLIMIT_CORE, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        uint64_t both[2] = {limits[i].value, limits[i].value};
        if (call(SYS_prlimit64, 0, limits[i].resource, (unsigned long)both, 0) != 0) return "setrlimit";
    }
    return NULL;
}

#ifdef CW_ARCHITECTURE
// Installs a seccomp filter that permits only the listed system calls. Mapping memory, opening files, starting programs
// and sending signals, for example, are not permitted.
static const char *filter_calls(void) {
#define CW_ALLOW(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CW_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        CW_ALLOW(SYS_read),
        CW_ALLOW(SYS_write),
        CW_ALLOW(SYS_exit_group),
        CW_ALLOW(SYS_exit),
#ifdef CW_IS_SANITIZED
        CW_ALLOW(SYS_sigaltstack),
        CW_ALLOW(SYS_mmap),
        CW_ALLOW(SYS_munmap),
        CW_ALLOW(SYS_madvise),
        CW_ALLOW(SYS_futex),
        CW_ALLOW(SYS_getpid),
#endif
#ifdef SYS_clock_gettime
        CW_ALLOW(SYS_clock_gettime),
#endif
#ifdef SYS_gettimeofday
        CW_ALLOW(SYS_gettimeofday),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
#undef CW_ALLOW
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    unsigned long mode = SECCOMP_MODE_FILTER;
    return call(SYS_prctl, PR_SET_SECCOMP, mode, (unsigned long)&program, 0) == 0 ? NULL : "seccomp";
}
#else
static const char *filter_calls(void) { return "seccomp on this architecture"; }
#endif

const char *cw_confine(int *channel, unsigned seconds) {
    const char *problem = close_everything_but(channel);
    if (problem == NULL) problem = forget_signals();
    if (problem == NULL) problem = limit(seconds);
    if (problem != NULL) return problem;
    if (call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0) != 0) return "prctl";
    if (call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0) != 0) return "prctl";
    return filter_calls();
}

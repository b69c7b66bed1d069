#define _GNU_SOURCE
#include "detached.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif

enum { stack_length = 64 << 10, piece_length = 64 << 10, maximum_text = 256 };

struct start {
    const char *path;
    char *const *arguments;
    char *const *environment;
    /// The stack of the program until it runs.
    char *stack;
    /// Written by the new processes, which share the memory until the program runs.
    volatile int error;
};

// Files such as listening sockets would otherwise stay open after the end of this process.
static void close_files(void) {
    struct rlimit limit;
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    int end = limit.rlim_cur < (1 << 20) ? (int)limit.rlim_cur : 1 << 20;
    for (int file = 3; file < end; file++) close(file);
}

// Runs in the memory of the caller, whose thread waits. Makes system calls only.
static int run(void *context) {
    struct start *start = context;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    // Ignored signals would stay ignored, and handlers must not run in the memory of the caller.
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    umask(077);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0 && chdir("/") == 0 && dup2(nothing, 0) == 0 && dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2) {
        close_files();
        sigprocmask(SIG_SETMASK, &none, NULL);
        execve(start->path, start->arguments, start->environment);
    }
    start->error = errno;
    _exit(127);
}

// The process between: when it ends, the program belongs to the system.
static int leave(void *context) {
    struct start *start = context;
    setsid();
    int program = clone(run, start->stack + stack_length, CLONE_VM | CLONE_VFORK, start);
    if (program < 0) start->error = errno;
    else if (start->error != 0) syscall(SYS_wait4, program, NULL, __WALL, NULL);
    _exit(0);
}

int cw_detached_start(const char *path, char *const *arguments, char *const *environment) {
    if (getauxval(AT_SECURE) != 0) return -EPERM;
    char *stacks = mmap(NULL, 2 * stack_length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED) return -errno;
    struct start start = {path, arguments, environment, stacks + stack_length, 0};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // Without a signal at its end: `wait` of the program does not report this process.
    int process = clone(leave, stacks + stack_length, CLONE_VM | CLONE_VFORK, &start);
    int result = process < 0 ? -errno : 0;
    if (result == 0) {
        while (waitpid(process, NULL, __WALL) < 0 && errno == EINTR) {}
        result = -start.error;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stacks, 2 * stack_length);
    return result;
}

static int contains(int file, const char *text) {
    char buffer[piece_length + maximum_text];
    size_t length = strlen(text), kept = 0;
    if (length == 0 || length > maximum_text) return 0;
    for (;;) {
        ssize_t count = read(file, buffer + kept, piece_length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        size_t total = kept + (size_t)count;
        if (memmem(buffer, total, text, length) != NULL) return 1;
        // The text can lie on both sides of the end of a piece.
        kept = total < length - 1 ? total : length - 1;
        memmove(buffer, buffer + total - kept, kept);
    }
}

int cw_program_contains(const char *path, const char *text) {
    struct stat facts;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return 0;
    int result = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_uid == geteuid() || facts.st_uid == 0)
        && (facts.st_mode & S_IWOTH) == 0 && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 && contains(file, text);
    close(file);
    return result;
}

void cw_log_note(const char *text) { syslog(LOG_USER | LOG_INFO, "causeway: %s", text); }

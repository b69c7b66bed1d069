#define _GNU_SOURCE
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif
#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

enum { stack_length = 64 << 10 };

struct start {
    const char *path;
    char *const *arguments;
    char *const *environment;
    int channel;
    int nothing;
    /// Written by the new process, which shares the memory until it runs its program.
    volatile int error;
};

// Runs on a stack of its own in the memory of the caller, whose thread waits. Makes system calls only.
static int run(void *context) {
    struct start *start = context;
    sigset_t none;
    sigemptyset(&none);
    // A duplicate is inherited, and lies above the standard streams.
    int channel = fcntl(start->channel, F_DUPFD_CLOEXEC, 3);
    int nothing = fcntl(start->nothing, F_DUPFD_CLOEXEC, 3);
    if (channel >= 0 && nothing >= 0 && dup2(channel, 0) == 0 && dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        // A program that was just written can be open for writing in a process that another thread forks, until that one runs its program.
        const struct timespec pause = {0, 5000000};
        for (int attempt = 0; attempt < 100; attempt++) {
            execve(start->path, start->arguments, start->environment);
            if (errno != ETXTBSY) break;
            nanosleep(&pause, NULL);
        }
    }
    start->error = errno;
    _exit(127);
}

static int clone_process(struct start *start, int *process) {
    sigset_t all, before;
    char *stack = mmap(NULL, stack_length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return -errno;
    sigfillset(&all);
    // No handler of this process may run in the new one.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int pid = clone(run, stack + stack_length, CLONE_VM | CLONE_VFORK | CLONE_PIDFD, start, process, NULL, NULL);
    int result = pid < 0 ? -errno : 0;
    if (result == 0 && *process < 0) {
        // Kernels before 5.2 ignore CLONE_PIDFD.
        kill(pid, SIGKILL);
        waitpid(pid, NULL, __WALL);
        result = -ENOSYS;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, stack_length);
    if (result == 0 && start->error != 0) {
        cw_worker_end(*process);
        close(*process);
        result = -start->error;
    }
    return result;
}

int cw_worker_start(const char *path, char *const *arguments, int *process, int *channel) {
    char search[4096];
    char *environment[2] = {NULL, NULL};
    const char *folders = secure_getenv("LD_LIBRARY_PATH");
    if (folders != NULL && snprintf(search, sizeof search, "LD_LIBRARY_PATH=%s", folders) < (int)sizeof search) environment[0] = search;
    int ends[2];
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return -errno;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        int error = errno;
        close(nothing);
        return -error;
    }
    struct start start = {path, arguments, environment, ends[1], nothing, 0};
    *process = -1;
    int result = fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ? -errno : clone_process(&start, process);
    close(ends[1]);
    close(nothing);
    if (result == 0) *channel = ends[0];
    else close(ends[0]);
    return result;
}

void cw_worker_kill(int process) { syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0); }

void cw_worker_end(int process) {
    siginfo_t info;
    cw_worker_kill(process);
    // ECHILD: other code of the program that waits for all children has reaped it already.
    while (waitid((idtype_t)P_PIDFD, (id_t)process, &info, WEXITED | __WALL) != 0 && errno == EINTR) {}
}

long cw_worker_send(int channel, const void *bytes, size_t count) { return send(channel, bytes, count, MSG_NOSIGNAL); }

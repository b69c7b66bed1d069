#define _GNU_SOURCE
#include "orphans.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif

enum { stack_length = 64 << 10 };

struct orphan {
    int (*function)(void *);
    void *context;
    /// The stack of the new process until it runs its program.
    char *stack;
    bool leaves_session;
    bool has_descriptor;
    // The new processes write the next two fields. They share this memory with this process until the program starts.
    int process;
    volatile int error;
};

static int run(void *context) {
    struct orphan *orphan = context;
    sigset_t none;
    sigemptyset(&none);
    // Reset the signal handlers. This process shares its caller's memory until it runs its program, and a handler would
    // change that memory.
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) {
        struct sigaction present;
        if (sigaction(number, NULL, &present) == 0 && present.sa_handler != SIG_IGN) sigaction(number, &standard, NULL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    orphan->error = orphan->function(orphan->context);
    _exit(127);
}

// Runs in an intermediate process, which starts the new process and then ends. The system then adopts the new process.
// One clone without an exit signal is not enough, because execve sets the exit signal to SIGCHLD.
static int leave(void *context) {
    struct orphan *orphan = context;
    if (orphan->leaves_session) setsid();
    int flags = CLONE_VM | CLONE_VFORK | (orphan->has_descriptor ? CLONE_PIDFD : 0);
    int number = clone(run, orphan->stack, flags, orphan, &orphan->process, NULL, NULL);
    if (number < 0) {
        orphan->error = errno;
    } else if (orphan->has_descriptor && orphan->process < 0) {
        // Kernels before version 5.2 ignore CLONE_PIDFD, so there is no process descriptor.
        kill(number, SIGKILL);
        orphan->error = ENOSYS;
    }
    if (number > 0 && orphan->error != 0) waitpid(number, NULL, __WALL);
    _exit(0);
}

int cw_orphan_start(int (*function)(void *), void *context, bool leaves_session, int *process) {
    char *stacks = mmap(NULL, 2 * stack_length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED) return -errno;
    struct orphan orphan = {function, context, stacks + 2 * stack_length, leaves_session, process != NULL, -1, 0};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // The intermediate process shares this process's descriptor table, so that the descriptor of the new process is
    // opened in this process too.
    int between = clone(leave, stacks + stack_length, CLONE_VM | CLONE_VFORK | CLONE_FILES, &orphan);
    int result = between < 0 ? -errno : 0;
    if (result == 0) {
        while (waitpid(between, NULL, __WALL) < 0 && errno == EINTR) {}
        result = -orphan.error;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stacks, 2 * stack_length);
    if (result == 0 && process != NULL) *process = orphan.process;
    else if (orphan.process >= 0) close(orphan.process);
    return result;
}

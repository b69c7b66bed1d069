#define _GNU_SOURCE
#include "workers.h"
#include "orphans.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

struct start {
    const char *path;
    char *const *arguments;
    char *const *environment;
    int channel;
    int nothing;
};

static int run(void *context) {
    struct start *start = context;
    // Move both descriptors, `channel` and `nothing`, above the standard streams, so that dup2 overwrites neither of
    // them. The program inherits only the descriptors that dup2 makes.
    int channel = fcntl(start->channel, F_DUPFD_CLOEXEC, 3);
    int nothing = fcntl(start->nothing, F_DUPFD_CLOEXEC, 3);
    if (channel >= 0 && nothing >= 0 && dup2(channel, 0) == 0 && dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2) {
        execve(start->path, start->arguments, start->environment);
    }
    return errno;
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
    struct start start = {path, arguments, environment, ends[1], nothing};
    *process = -1;
    int result = fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ? -errno : cw_orphan_start(run, &start, false, process);
    close(ends[1]);
    close(nothing);
    if (result == 0) *channel = ends[0];
    else close(ends[0]);
    return result;
}

void cw_worker_kill(int process) { syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0); }

void cw_worker_end(int process) {
    cw_worker_kill(process);
    struct pollfd end = {process, POLLIN, 0};
    while (poll(&end, 1, -1) < 0 && errno == EINTR) {}
    // Reap the ended program if this process is its parent. The first process in a container becomes the parent of all
    // processes that lose their parent.
    siginfo_t info;
    waitid((idtype_t)P_PIDFD, (id_t)process, &info, WEXITED | WNOHANG | __WALL);
}

long cw_worker_send(int channel, const void *bytes, size_t count) { return send(channel, bytes, count, MSG_NOSIGNAL); }

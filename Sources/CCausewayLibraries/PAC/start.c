#define _GNU_SOURCE
#include "causeway_pac.h"
#include "run.h"
#include "sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
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

// The region may be large, because pages that are never written use no memory.
enum { guard_length = 64 << 10, stack_length = 4 << 20, region_length = guard_length + stack_length + CW_SCRIPT_MEMORY };

// Clones a process without an exit signal. A program that waits for its child processes therefore does not see this
// process.
static int copy_process(cw_script_job *job, int *process) {
#ifdef CW_IS_SANITIZED
    // Keep the thread's stack in the new process. Sanitizers know only the stacks of threads, and abort at the first
    // longjmp on another stack.
    long pid = syscall(SYS_clone, CLONE_PIDFD, NULL, process, NULL, NULL);
    if (pid == 0) cw_script_run(job);
#else
    long pid = clone(cw_script_run, job->heap, CLONE_PIDFD, job, process, NULL, NULL);
#endif
    return pid < 0 ? -errno : 0;
}

static int make_process(cw_script_job *job, char *region, int *process) {
    sigset_t all, before;
    sigfillset(&all);
    job->heap = region + guard_length + stack_length;
    // Call `syscall` once in this process, so that the dynamic linker binds it before the cloned process calls it.
    (void)syscall(SYS_getpid);
    // Block all signals while the new process is created. The new process then also blocks them, so the signal handlers
    // of this process do not run in it.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = copy_process(job, process);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

int cw_script_start(
    cw_script_text prelude, const cw_script_text *arguments, int count, int *process, int *channel) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
    char *region = mmap(
        NULL, region_length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int result = region == MAP_FAILED ? -errno : 0;
    if (result == 0 && mprotect(region, guard_length, PROT_NONE) != 0) result = -errno;
    if (result == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) result = -errno;
    if (result == 0) {
        cw_script_job job = {prelude, arguments, count, NULL, ends[1]};
        result = make_process(&job, region, process);
    }
    // Release this process's mapping of the region and its copy of this channel end. The new process has its own copies
    // of both.
    if (region != MAP_FAILED) munmap(region, region_length);
    close(ends[1]);
    if (result == 0) *channel = ends[0];
    else close(ends[0]);
    return result;
}

void cw_script_kill(int process) { syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0); }

bool cw_script_reap(int process) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    int result;
    do result = waitid((idtype_t)P_PIDFD, (id_t)process, &info, WEXITED | WNOHANG | __WALL);
    while (result != 0 && errno == EINTR);
    // ECHILD means that the process has ended and was already waited for. Other code in this program may wait for all
    // child processes.
    return result != 0 ? errno == ECHILD : info.si_pid != 0;
}

long cw_script_time_offset(void) {
    time_t now = time(NULL);
    struct tm parts;
    return localtime_r(&now, &parts) == NULL ? 0 : parts.tm_gmtoff;
}

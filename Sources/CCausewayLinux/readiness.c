#define _GNU_SOURCE
#include "causeway_linux.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { batch_limit = 256 };

static uint32_t to_epoll(uint32_t readiness) {
    uint32_t events = EPOLLET;
    if (readiness & CW_READABLE) events |= EPOLLIN;
    if (readiness & CW_WRITABLE) events |= EPOLLOUT;
    if (readiness & CW_PEER_CLOSED) events |= EPOLLRDHUP;
    return events;
}

static uint32_t from_epoll(uint32_t events) {
    uint32_t readiness = 0;
    if (events & EPOLLIN) readiness |= CW_READABLE;
    if (events & EPOLLOUT) readiness |= CW_WRITABLE;
    if (events & EPOLLRDHUP) readiness |= CW_PEER_CLOSED;
    if (events & EPOLLHUP) readiness |= CW_HANG_UP;
    if (events & EPOLLERR) readiness |= CW_FAILED;
    return readiness;
}

int cw_epoll_create(void) {
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int control(int epoll, int operation, int fd, uint64_t token, uint32_t readiness) {
    struct epoll_event event = {.events = to_epoll(readiness), .data.u64 = token};
    return epoll_ctl(epoll, operation, fd, &event) < 0 ? -errno : 0;
}

int cw_epoll_add(int epoll, int fd, uint64_t token, uint32_t readiness) {
    return control(epoll, EPOLL_CTL_ADD, fd, token, readiness);
}

int cw_epoll_modify(int epoll, int fd, uint64_t token, uint32_t readiness) {
    return control(epoll, EPOLL_CTL_MOD, fd, token, readiness);
}

int cw_epoll_remove(int epoll, int fd) { return control(epoll, EPOLL_CTL_DEL, fd, 0, 0); }

static int wait_in_milliseconds(int epoll, struct epoll_event *raw, int capacity, int64_t timeout_ns) {
    if (timeout_ns > INT64_C(1) << 60) timeout_ns = INT64_C(1) << 60;
    // Round the timeout up, so that the loop does not wake up just before a timer is due.
    int64_t milliseconds = timeout_ns < 0 ? -1 : (timeout_ns + 999999) / 1000000;
    if (milliseconds > 1 << 30) milliseconds = 1 << 30;
    return epoll_wait(epoll, raw, capacity, (int)milliseconds);
}

// Timeouts below this number of nanoseconds use epoll_pwait2, if the kernel has it (5.11). Its timeout has a resolution of nanoseconds.
enum { precise_ns = 10000000 };

static int wait_for(int epoll, struct epoll_event *raw, int capacity, int64_t timeout_ns) {
#ifdef SYS_epoll_pwait2
    static _Atomic bool lacks_precision;
    if (timeout_ns > 0 && timeout_ns < precise_ns && !lacks_precision) {
        // The timeout as the system call expects it. The C library's timespec may have another layout.
        struct { int64_t seconds, nanoseconds; } timeout = {0, timeout_ns};
        long count = syscall(SYS_epoll_pwait2, epoll, raw, capacity, &timeout, NULL, 0);
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return (int)count;
        lacks_precision = true;
    }
#endif
    return wait_in_milliseconds(epoll, raw, capacity, timeout_ns);
}

int cw_epoll_wait(int epoll, cw_event *events, int capacity, int64_t timeout_ns) {
    struct epoll_event raw[batch_limit];
    if (capacity > batch_limit) capacity = batch_limit;
    int count = wait_for(epoll, raw, capacity, timeout_ns);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; i++) events[i] = (cw_event){raw[i].data.u64, from_epoll(raw[i].events)};
    return count;
}

int cw_wake_create(void) {
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

void cw_wake_signal(int fd) {
    uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {}
}

void cw_wake_drain(int fd) {
    uint64_t count;
    while (read(fd, &count, sizeof count) < 0 && errno == EINTR) {}
}

int cw_clock_watch(void) {
    int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0) return -errno;
    struct itimerspec never = {0};
    never.it_value.tv_sec = (time_t)1 << 40;
    if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) == 0) return fd;
    int error = errno;
    close(fd);
    return -error;
}

bool cw_clock_has_jumped(int fd) {
    uint64_t count;
    return read(fd, &count, sizeof count) < 0 && errno == ECANCELED;
}

uint64_t cw_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int cw_processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

struct start {
    void (*body)(void *);
    void *context;
    char name[16];
};

static void *run(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    prctl(PR_SET_NAME, start.name, 0, 0, 0);
    start.body(start.context);
    return NULL;
}

int cw_thread_start(const char *name, void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (!start) return -ENOMEM;
    start->body = body;
    start->context = context;
    snprintf(start->name, sizeof start->name, "%s", name);
    // Block all signals now, because the new thread inherits this thread's signal mask. The program's other threads
    // handle the signals.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    int result = pthread_create(&thread, &attributes, run, start);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (result != 0) free(start);
    return -result;
}

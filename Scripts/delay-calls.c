// Delays calls of the C library, Dispatch and Swift's concurrency at random; Scripts/delay-calls builds and loads it.
//
// The delay comes before the call and after it, so that other threads see what lies between two calls more often.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    // Calls that other tests or callbacks seldom wait for have this many times the probability.
    RARE_CALL = 4,
    MICROSECONDS = 2000,
    // One of this many delays is longer by LONG_MICROSECONDS.
    LONG_DELAY = 50,
    LONG_MICROSECONDS = 20000,
};

static int percent = 3;

__attribute__((constructor)) static void read_percent(void) {
    const char *text = getenv("DELAY_CALLS_PERCENT");
    if (text) percent = atoi(text);
}

/// xorshift64, with a state per thread, so that no lock changes the order of the threads.
static unsigned random_number(void) {
    static __thread uint64_t state;
    if (!state) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        state = ((uint64_t)now.tv_nsec * 2654435761u ^ (uintptr_t)&state) | 1;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20);
}

static void delay(int factor) {
    int error = errno;
    if (random_number() % 1000 < (unsigned)(percent * 10 * factor)) {
        long microseconds = random_number() % (MICROSECONDS * factor);
        if (random_number() % LONG_DELAY == 0) microseconds += LONG_MICROSECONDS;
        struct timespec duration = {0, microseconds * 1000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, NULL);
    }
    errno = error;
}

#define DELAYED(factor, result, name, parameters, arguments) \
    result name parameters {                                 \
        static result(*next) parameters;                     \
        if (!next) next = dlsym(RTLD_NEXT, #name);           \
        delay(factor);                                       \
        result value = next arguments;                       \
        delay(factor);                                       \
        return value;                                        \
    }

#define DELAYED_VOID(name, parameters, arguments)  \
    void name parameters {                         \
        static void (*next) parameters;            \
        if (!next) next = dlsym(RTLD_NEXT, #name); \
        delay(1);                                  \
        next arguments;                            \
        delay(1);                                  \
    }

DELAYED(RARE_CALL, int, unlink, (const char *path), (path))
DELAYED(RARE_CALL, int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
DELAYED(RARE_CALL, int, rename, (const char *from, const char *to), (from, to))
DELAYED(RARE_CALL, int, renameat2, (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
        (from_folder, from, to_folder, to, flags))
DELAYED(RARE_CALL, int, fsync, (int file), (file))
DELAYED(RARE_CALL, int, fdatasync, (int file), (file))
DELAYED(1, int, close, (int file), (file))
DELAYED(1, ssize_t, read, (int file, void *buffer, size_t count), (file, buffer, count))
DELAYED(1, ssize_t, write, (int file, const void *buffer, size_t count), (file, buffer, count))
DELAYED(1, ssize_t, send, (int socket, const void *buffer, size_t count, int flags), (socket, buffer, count, flags))
DELAYED(1, ssize_t, recv, (int socket, void *buffer, size_t count, int flags), (socket, buffer, count, flags))
DELAYED(1, ssize_t, sendmsg, (int socket, const struct msghdr *message, int flags), (socket, message, flags))
DELAYED(1, ssize_t, recvmsg, (int socket, struct msghdr *message, int flags), (socket, message, flags))
DELAYED(1, int, shutdown, (int socket, int how), (socket, how))
DELAYED(1, int, connect, (int socket, const struct sockaddr *address, socklen_t length), (socket, address, length))
DELAYED(1, int, epoll_wait, (int file, struct epoll_event *events, int count, int timeout),
        (file, events, count, timeout))
DELAYED_VOID(dispatch_async, (void *queue, void *block), (queue, block))
DELAYED_VOID(dispatch_async_f, (void *queue, void *context, void *function), (queue, context, function))
DELAYED_VOID(dispatch_async_swift_job, (void *queue, void *job, unsigned priority), (queue, job, priority))

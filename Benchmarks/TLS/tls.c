// A TLS benchmark in plain C, with two roles: a server, and a load generator for all servers. The server uses the same
// OpenSSL library as the servers that it is compared with. Benchmarks/tls-ratios starts this program. It needs
// libssl-dev.
//
// usage:
//
//        tls serve echo|sink PORT CERT KEY
//        tls echo|full|resume PORT SECONDS PID CONNECTIONS     processor microseconds of process PID per operation
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most = 1024, message = 64, warm_up = 300000000 };
static const int one = 1;
static char block[65536];

static void stop(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time)) stop("clock");
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t processor_time(int process) {
    clockid_t clock;
    if (clock_getcpuclockid(process, &clock)) stop("process");
    return nanoseconds(clock);
}

static struct sockaddr_in address_of(int port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

// MARK: The server: one thread, epoll, the library on the sockets

static void accept_all(int listener, int poll, SSL_CTX *context) {
    int connection;
    while ((connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        SSL *tls = SSL_new(context);
        SSL_set_fd(tls, connection);
        SSL_set_accept_state(tls);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = tls};
        epoll_ctl(poll, EPOLL_CTL_ADD, connection, &event);
    }
}

static void answer(SSL *tls, bool echoes) {
    for (;;) {
        int count = SSL_read(tls, block, sizeof block);
        if (count <= 0) {
            if (SSL_get_error(tls, count) == SSL_ERROR_WANT_READ) return;
            SSL_shutdown(tls);
            close(SSL_get_fd(tls));
            SSL_free(tls);
            return;
        }
        if (echoes) SSL_write(tls, block, count);
        // If data is still in the kernel, epoll reports it later, so the loop need not read again.
        if (SSL_pending(tls) == 0 && count < (int)sizeof block && echoes) return;
    }
}

_Noreturn static void serve(bool echoes, int port, const char *certificate, const char *key) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1) stop(certificate);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) stop(key);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poll = epoll_create1(0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = address_of(port);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) stop("listen");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL) accept_all(listener, poll, context);
            else answer(events[i].data.ptr, echoes);
        }
    }
}

// MARK: The load

static SSL_CTX *clients;
static SSL_SESSION *session;

static int keep(SSL *tls, SSL_SESSION *fresh) {
    (void)tls;
    SSL_SESSION_free(session);
    session = fresh;
    return 1;
}

static SSL *reach(int port) {
    struct sockaddr_in address = address_of(port);
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    for (int tries = 0; connect(connection, (struct sockaddr *)&address, sizeof address); tries++) {
        if (errno != ECONNREFUSED || tries == 400) stop("connect");
        close(connection);
        usleep(10000);
        connection = socket(AF_INET, SOCK_STREAM, 0);
    }
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    SSL *tls = SSL_new(clients);
    SSL_set_fd(tls, connection);
    if (session != NULL) SSL_set_session(tls, session);
    if (SSL_connect(tls) != 1) stop("handshake");
    return tls;
}

struct figures {
    uint64_t end, measured_from, used, operations;
    double seconds;
    int process;
    bool measures;
};

static void begin(struct figures *figures) {
    figures->measured_from = nanoseconds(CLOCK_MONOTONIC) + warm_up;
    figures->end = figures->measured_from + (uint64_t)(figures->seconds * 1e9);
}

// Updates the measurement's counters. Returns whether the measurement continues.
static bool tick(struct figures *figures) {
    uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    if (!figures->measures && now >= figures->measured_from) {
        figures->measures = true;
        figures->operations = 0;
        figures->used = processor_time(figures->process);
    }
    return now < figures->end;
}

static void echo(struct figures *figures, int port, int connections) {
    static SSL *all[most];
    struct epoll_event event, events[256];
    int poll = epoll_create1(0);
    for (int i = 0; i < connections; i++) {
        all[i] = reach(port);
        event = (struct epoll_event){.events = EPOLLIN, .data.ptr = all[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, SSL_get_fd(all[i]), &event);
        fcntl(SSL_get_fd(all[i]), F_SETFL, O_NONBLOCK);
    }
    begin(figures);
    for (int i = 0; i < connections; i++) SSL_write(all[i], block, message);
    while (tick(figures)) {
        int count = epoll_wait(poll, events, 256, 1000);
        if (count <= 0) stop("no answer");
        for (int i = 0; i < count; i++) {
            SSL *tls = events[i].data.ptr;
            int got = SSL_read(tls, block, message);
            if (got <= 0 && SSL_get_error(tls, got) == SSL_ERROR_WANT_READ) continue;
            if (got != message) stop("answer");
            figures->operations++;
            SSL_write(tls, block, message);
        }
    }
}

// Makes TLS connections one at a time. Each connection carries one byte in each direction.
static void shake_hands(struct figures *figures, int port) {
    uint64_t resumed = 0, all = 0;
    begin(figures);
    while (tick(figures)) {
        SSL *tls = reach(port);
        int connection = SSL_get_fd(tls);
        resumed += (uint64_t)SSL_session_reused(tls);
        all++;
        SSL_write(tls, block, 1);
        // Read the reply, because the session ticket arrives only after the handshake. This read also processes the
        // ticket, which precedes the reply.
        SSL_read(tls, block, 1);
        SSL_shutdown(tls);
        SSL_free(tls);
        close(connection);
        figures->operations++;
    }
    printf("resumed %.3f ", (double)resumed / (double)all);
}

int main(int count, char **words) {
    signal(SIGPIPE, SIG_IGN);
    if (count < 6) return fprintf(stderr, "see the head of tls.c\n"), 2;
    if (!strcmp(words[1], "serve")) serve(!strcmp(words[2], "echo"), atoi(words[3]), words[4], words[5]);
    clients = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(clients, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(clients, "TLS_AES_128_GCM_SHA256");
    bool resumes = !strcmp(words[1], "resume");
    SSL_CTX_set_session_cache_mode(
        clients, resumes ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    if (resumes) SSL_CTX_sess_set_new_cb(clients, keep);
    int port = atoi(words[2]), connections = atoi(words[5]);
    if (connections < 1 || connections > most) return 2;
    struct figures figures = {.process = atoi(words[4]), .seconds = atof(words[3])};
    if (resumes || !strcmp(words[1], "full")) shake_hands(&figures, port);
    else echo(&figures, port, connections);
    uint64_t used = processor_time(figures.process) - figures.used;
    printf("us/op %.3f op/s %.0f\n", (double)used / 1e3 / (double)figures.operations,
           (double)figures.operations / figures.seconds);
    return 0;
}

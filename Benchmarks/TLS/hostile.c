// Benchmark client: its certificates are rejected while an echo connection is measured. Benchmarks/hostile-chains
// starts this program. It needs libssl-dev.
//
// usage: hostile PORT SECONDS PID PEERS CHAIN KEY [GOOD_CHAIN GOOD_KEY]
//
// PEERS processes connect repeatedly with CHAIN. With GOOD_CHAIN, the program first establishes an echo connection, and
// measures a round trip every millisecond. It prints the round trips in microseconds. It also prints the processor
// microseconds of process PID per rejected handshake.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { message = 64, most = 100000 };
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

static SSL_CTX *context_with(const char *chain, const char *key) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    // With security level 0, OpenSSL also sends weak certificates.
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_use_certificate_chain_file(context, chain) != 1) stop(chain);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) stop(key);
    return context;
}

static SSL *reach(SSL_CTX *context, int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address)) stop("connect");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    SSL *tls = SSL_new(context);
    SSL_set_fd(tls, connection);
    SSL_connect(tls);
    return tls;
}

static void leave(SSL *tls) {
    int connection = SSL_get_fd(tls);
    SSL_free(tls);
    close(connection);
}

_Noreturn static void refuse_again_and_again(SSL_CTX *context, int port, uint64_t end, atomic_ulong *count) {
    while (nanoseconds(CLOCK_MONOTONIC) < end) {
        SSL *tls = reach(context, port);
        // In TLS 1.3 the alert arrives after the handshake.
        if (SSL_read(tls, block, sizeof block) > 0) stop("accepted");
        leave(tls);
        (*count)++;
    }
    _exit(0);
}

static int compare(const void *a, const void *b) {
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

int main(int words_count, char **words) {
    signal(SIGPIPE, SIG_IGN);
    if (words_count != 7 && words_count != 9) return fprintf(stderr, "see the head of hostile.c\n"), 2;
    int port = atoi(words[1]), peers = atoi(words[4]);
    clockid_t server;
    if (clock_getcpuclockid(atoi(words[3]), &server)) stop("process");
    atomic_ulong *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    SSL_CTX *hostile = context_with(words[5], words[6]);
    SSL *good = words_count == 9 ? reach(context_with(words[7], words[8]), port) : NULL;
    uint64_t end = nanoseconds(CLOCK_MONOTONIC) + (uint64_t)(atof(words[2]) * 1e9), used = nanoseconds(server);
    for (int i = 0; i < peers; i++) {
        if (fork() == 0) refuse_again_and_again(hostile, port, end, count);
    }
    static double trips[most];
    size_t trip_count = 0;
    while (good != NULL && trip_count < most && nanoseconds(CLOCK_MONOTONIC) < end) {
        uint64_t start = nanoseconds(CLOCK_MONOTONIC);
        if (SSL_write(good, block, message) != message) stop("write");
        for (int got = 0; got < message;) {
            int more = SSL_read(good, block, message - got);
            if (more <= 0) stop("answer");
            got += more;
        }
        trips[trip_count++] = (double)(nanoseconds(CLOCK_MONOTONIC) - start) / 1e3;
        usleep(1000);
    }
    while (wait(NULL) > 0) {}
    if (*count == 0) return printf("none\n"), 0;
    printf("us/op %.0f ops %lu", (double)(nanoseconds(server) - used) / 1e3 / (double)*count, *count);
    qsort(trips, trip_count, sizeof *trips, compare);
    if (trip_count > 0) {
        printf(" median %.0f p99 %.0f max %.0f", trips[trip_count / 2], trips[trip_count * 99 / 100], trips[trip_count - 1]);
    }
    printf("\n");
    return 0;
}

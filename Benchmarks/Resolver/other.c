// The reference measurements for Benchmarks/resolver-ratios. c-ares decodes messages, and getaddrinfo resolves names in
// threads. The program prints nanoseconds per operation, as ResolverRatios does.

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_ARES
#include <ares.h>
#endif

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#ifdef WITH_ARES
static int decode_once(const unsigned char *bytes, int length) {
    struct ares_addrttl addresses[64];
    int count = 64;
    struct hostent *host = NULL;
    // Decode the whole DNS answer: aliases, name, and addresses with their TTLs.
    if (ares_parse_a_reply(bytes, length, &host, addresses, &count) != ARES_SUCCESS) return 0;
    ares_free_hostent(host);
    return count;
}

static int decode(const char *path, long count) {
    static unsigned char bytes[65535];
    FILE *file = fopen(path, "rb");
    if (!file) return 1;
    int length = (int)fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    long records = 0;
    for (long i = 0; i < count / 10 + 1; i++) records += decode_once(bytes, length);
    double start = seconds(CLOCK_MONOTONIC);
    for (long i = 0; i < count; i++) records += decode_once(bytes, length);
    if (records == 0) return 1;
    printf("%f\n", (seconds(CLOCK_MONOTONIC) - start) * 1e9 / (double)count);
    return 0;
}
#endif

static long total, lanes, found;
static const char *prefix;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *look_up(void *argument) {
    long mine = 0;
    for (long number = (long)argument; number < total; number += lanes) {
        char name[64];
        snprintf(name, sizeof name, "%s%ld.made.example", prefix, number);
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *result = NULL;
        if (getaddrinfo(name, NULL, &hints, &result) == 0) {
            mine++;
            freeaddrinfo(result);
        }
    }
    pthread_mutex_lock(&lock);
    found += mine;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void run(const char *names, long count, long threads) {
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    prefix = names;
    total = count;
    lanes = threads;
    found = 0;
    for (long i = 0; i < threads; i++) pthread_create(&thread[i], NULL, look_up, (void *)i);
    for (long i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    free(thread);
}

// Accepts connections on ::1 until the process is ended. Closes each connection after its client has closed it. Prints
// the listening port.
static int accept_all(void) {
    int listener = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin6_port));
    fflush(stdout);
    // Close each connection with a reset, so that no port stays in the state TIME_WAIT.
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    for (;;) {
        int peer = accept(listener, NULL, NULL);
        if (peer < 0) continue;
        char byte;
        while (read(peer, &byte, 1) > 0) {}
        setsockopt(peer, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close(peer);
    }
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "accept") == 0) return accept_all();
    if (count != 4) return 2;
#ifdef WITH_ARES
    if (strcmp(words[1], "decode") == 0) return decode(words[2], atol(words[3]));
#endif
    if (strcmp(words[1], "lookup") != 0) return 2;
    run("warm", 100, atol(words[3]));
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    run("n", atol(words[2]), atol(words[3]));
    if (found != total) return 1;
    printf("%f\n", (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) * 1e9 / (double)total);
    return 0;
}

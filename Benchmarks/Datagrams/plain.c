// Plain datagram sockets, for Benchmarks/datagram-ratios: the load generator and the reference receiver.
//
// plain send one|many|train ADDRESS PORT BATCHES MICROSECONDS batches of 20 datagrams of 1,200 bytes, one batch per interval
//                                                               (0: unpaced), by sendto, sendmmsg or UDP_SEGMENT
// plain receive PORT BUFFER one recvfrom per datagram, with a receive buffer of BUFFER bytes
// plain floor PORT BUFFER   recvmmsg of 16 datagrams until the socket is empty, then poll, on a socket for both families with the control
//                           messages that a listener needs: the kernel's share of a receiver that reads in batches
//
// The load ends with datagrams of one byte. A receiver then prints "received N cpu MICROSECONDS".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { batch = 20, size = 1200 };

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void send_batch(int fd, const char *how, char *bytes) {
    if (!strcmp(how, "train")) {
        if (send(fd, bytes, batch * size, 0) < 0) die("send");
    } else if (!strcmp(how, "many")) {
        struct mmsghdr messages[batch] = {0};
        struct iovec pieces[batch];
        for (int i = 0; i < batch; i++) {
            pieces[i] = (struct iovec){bytes + i * size, size};
            messages[i].msg_hdr.msg_iov = &pieces[i];
            messages[i].msg_hdr.msg_iovlen = 1;
        }
        if (sendmmsg(fd, messages, batch, 0) != batch) die("sendmmsg");
    } else {
        for (int i = 0; i < batch; i++) {
            if (send(fd, bytes + i * size, size, 0) < 0) die("send");
        }
    }
}

static int do_send(char **words) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0), segment = size, none = 0;
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[2]))};
    inet_pton(AF_INET, words[1], &peer.sin_addr);
    if (connect(fd, (struct sockaddr *)&peer, sizeof peer) < 0) die("connect");
    if (!strcmp(words[0], "train") && setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment) < 0) die("UDP_SEGMENT");
    static char bytes[batch * size];
    long batches = atol(words[3]);
    double interval = atof(words[4]) / 1e6, began = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < batches; i++) {
        if (interval > 0) {
            double wait = began + (double)i * interval - seconds(CLOCK_MONOTONIC);
            if (wait > 0) usleep((useconds_t)(wait * 1e6));
        }
        send_batch(fd, words[0], bytes);
    }
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    double elapsed = seconds(CLOCK_MONOTONIC) - began;
    setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof none);
    for (int i = 0; i < 3; i++) {
        usleep(150000);
        send(fd, bytes, 1, 0);
    }
    printf("sent %ld cpu %.0f rate %.0f\n", batches * batch, cpu * 1e6, (double)batches * batch / elapsed);
    return 0;
}

static int open_receiver(int family, char **words) {
    int fd = socket(family, SOCK_DGRAM, 0), buffer = atoi(words[1]);
    uint16_t port = htons((uint16_t)atoi(words[0]));
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = port};
    struct sockaddr_in6 wide = {.sin6_family = AF_INET6, .sin6_port = port};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) < 0) die("SO_RCVBUFFORCE");
    if (bind(fd, family == AF_INET ? (void *)&local : (void *)&wide, family == AF_INET ? sizeof local : sizeof wide) < 0) die("bind");
    printf("ready\n");
    fflush(stdout);
    return fd;
}

static int finish(long received, double cpu) {
    printf("received %ld cpu %.0f\n", received, (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e6);
    return 0;
}

static int do_receive(char **words) {
    int fd = open_receiver(AF_INET, words);
    static char bytes[65536];
    double cpu = 0;
    for (long received = 0;; received++) {
        struct sockaddr_in peer;
        socklen_t length = sizeof peer;
        ssize_t count = recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&peer, &length);
        if (count < 0) die("recvfrom");
        if (count == 1) return finish(received, cpu);
        if (received == 0) cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    }
}

enum { at_once = 16, room = 65536 };

static int do_floor(char **words) {
    int fd = open_receiver(AF_INET6, words), on = 1;
    setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof on);
    setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
    static char bytes[at_once][room], control[at_once][256];
    static struct sockaddr_in6 peers[at_once];
    double cpu = 0;
    for (long received = 0;;) {
        struct mmsghdr messages[at_once] = {0};
        struct iovec pieces[at_once];
        for (int i = 0; i < at_once; i++) {
            pieces[i] = (struct iovec){bytes[i], room};
            messages[i].msg_hdr = (struct msghdr){.msg_name = &peers[i], .msg_namelen = sizeof peers[i], .msg_iov = &pieces[i],
                .msg_iovlen = 1, .msg_control = control[i], .msg_controllen = sizeof control[i]};
        }
        int count = recvmmsg(fd, messages, at_once, MSG_DONTWAIT, NULL);
        for (int i = 0; i < count; i++) {
            if (messages[i].msg_len == 1) return finish(received, cpu);
            if (received == 0) cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
            received += (messages[i].msg_len + size - 1) / size;
        }
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (count < at_once) poll(&wait, 1, -1);
    }
}

int main(int count, char **words) {
    if (count == 7 && !strcmp(words[1], "send")) return do_send(words + 2);
    if (count == 4 && !strcmp(words[1], "receive")) return do_receive(words + 2);
    if (count == 4 && !strcmp(words[1], "floor")) return do_floor(words + 2);
    fprintf(stderr, "usage: plain send one|many|train ADDRESS PORT BATCHES MICROSECONDS | receive|floor PORT BUFFER\n");
    return 64;
}

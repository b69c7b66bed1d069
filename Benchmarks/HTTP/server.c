// A server with one thread and epoll: answers each request with a body of 1 KiB, or of the length that the path states.
//
// usage: server PORT
//
// "/N" answers with N bytes. Requests must have no body, except "POST /sink", whose body is counted and dropped.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 65536 };

struct peer {
    int fd;
    size_t used;            // bytes in `in`
    unsigned long long skip;  // bytes of a request body that are still to come
    size_t headLength, headSent;
    unsigned long long left;  // bytes of the answer's body that are still to send
    char head[256], in[8192];
};

static char zeros[1 << 18], sink[1 << 18];
static int loop;

static void watch(struct peer *peer, int writing, int operation) {
    struct epoll_event event = {.events = writing ? EPOLLOUT : EPOLLIN, .data.ptr = peer};
    epoll_ctl(loop, operation, peer->fd, &event);
}

static void end(struct peer *peer) {
    close(peer->fd);
    free(peer);
}

// Sends what is left of the answer. Returns 1 when everything was sent, 0 if the socket is full, -1 on failure.
static int answer(struct peer *peer) {
    while (peer->headSent < peer->headLength || peer->left > 0) {
        struct iovec parts[2] = {
            {peer->head + peer->headSent, peer->headLength - peer->headSent},
            {zeros, peer->left < sizeof zeros ? peer->left : sizeof zeros},
        };
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t sent = sendmsg(peer->fd, &message, MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN ? 0 : -1;
        size_t ofHead = peer->headLength - peer->headSent;
        if ((size_t)sent < ofHead) ofHead = sent;
        peer->headSent += ofHead;
        peer->left -= sent - ofHead;
    }
    return 1;
}

// Answers the requests that have arrived. Returns -1 if the connection must be closed, 0 if only a part of an answer
// could be sent, and otherwise 1.
static int serve(struct peer *peer) {
    for (;;) {
        char *end = memmem(peer->in, peer->used, "\r\n\r\n", 4);
        if (!end) return peer->used == sizeof peer->in ? -1 : 1;
        *end = 0;
        unsigned long long length = 1024;
        char *path = strchr(peer->in, ' ');
        if (path && path[1] == '/' && path[2] >= '0' && path[2] <= '9') length = strtoull(path + 2, NULL, 10);
        char *field = strcasestr(peer->in, "content-length:");
        peer->skip = field ? strtoull(field + 15, NULL, 10) : 0;
        size_t head = end + 4 - peer->in;
        size_t body = peer->used - head < peer->skip ? peer->used - head : peer->skip;
        peer->skip -= body;
        memmove(peer->in, peer->in + head + body, peer->used - head - body);
        peer->used -= head + body;
        peer->headLength = snprintf(
            peer->head, sizeof peer->head,
            "HTTP/1.1 200 OK\r\nServer: plain\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: text/plain\r\n"
            "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"5\"\r\nAccept-Ranges: bytes\r\nContent-Length: %llu\r\n\r\n",
            length);
        peer->headSent = 0;
        peer->left = length;
        if (peer->skip > 0) return 1;
        int result = answer(peer);
        if (result < 1) return result;
    }
}

static void readable(struct peer *peer) {
    if (peer->skip > 0) {
        ssize_t got = recv(peer->fd, sink, peer->skip < sizeof sink ? peer->skip : sizeof sink, 0);
        if (got <= 0) {
            if (got == 0 || errno != EAGAIN) end(peer);
            return;
        }
        peer->skip -= got;
        if (peer->skip > 0) return;
        int result = answer(peer);
        if (result < 0) return end(peer);
        if (result == 0) watch(peer, 1, EPOLL_CTL_MOD);
        return;
    }
    ssize_t got = recv(peer->fd, peer->in + peer->used, sizeof peer->in - peer->used, 0);
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN) end(peer);
        return;
    }
    peer->used += got;
    int result = serve(peer);
    if (result < 0) return end(peer);
    if (result == 0) watch(peer, 1, EPOLL_CTL_MOD);
}

static void writable(struct peer *peer) {
    int result = answer(peer);
    if (result == 1) result = serve(peer);
    if (result < 0) return end(peer);
    if (result == 1) watch(peer, 0, EPOLL_CTL_MOD);
}

int main(int count, char **words) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[count - 1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 1024)) return perror("listen"), 1;
    loop = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[64];
    epoll_ctl(loop, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(loop, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            struct peer *peer = events[i].data.ptr;
            if (peer) {
                if (events[i].events & EPOLLOUT) writable(peer);
                else readable(peer);
                continue;
            }
            int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
            if (fd < 0) continue;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            peer = calloc(1, sizeof *peer);
            peer->fd = fd;
            watch(peer, 0, EPOLL_CTL_ADD);
        }
    }
}

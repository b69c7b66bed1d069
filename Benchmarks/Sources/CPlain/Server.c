#define _GNU_SOURCE
#include "CPlain.h"
#include "Socket.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { echo_capacity = 16 << 10, sink_capacity = 256 << 10, event_capacity = 256 };

struct server {
    int listener;
    bool echoes;
};

static void watch(int epoll, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    plain_require(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static void handle(const struct server *server, int fd, char *block) {
    ssize_t received = recv(fd, block, server->echoes ? echo_capacity : sink_capacity, 0);
    if (received <= 0) {
        close(fd);
    } else if (server->echoes) {
        plain_require(send(fd, block, (size_t)received, MSG_NOSIGNAL) == received, "send");
    }
}

static void *serve(void *context) {
    struct server *server = context;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    char *block = malloc(sink_capacity);
    plain_require(epoll >= 0 && block, "epoll_create1");
    watch(epoll, server->listener);
    struct epoll_event events[event_capacity];
    for (;;) {
        int count = epoll_wait(epoll, events, event_capacity, -1);
        for (int index = 0; index < count; index++) {
            int fd = events[index].data.fd;
            if (fd == server->listener) {
                int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
                if (accepted >= 0) watch(epoll, accepted);
            } else {
                handle(server, fd, block);
            }
        }
    }
}

uint16_t plain_server_start(bool echoes) {
    struct server *server = malloc(sizeof *server);
    plain_require(server != NULL, "malloc");
    uint16_t port;
    *server = (struct server){.listener = plain_listen(&port), .echoes = echoes};
    pthread_t thread;
    plain_require(pthread_create(&thread, NULL, serve, server) == 0, "pthread_create");
    pthread_detach(thread);
    return port;
}

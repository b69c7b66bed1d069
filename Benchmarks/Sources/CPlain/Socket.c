#include "Socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>

void plain_require(bool holds, const char *what) {
    if (holds) return;
    perror(what);
    exit(1);
}

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int new_socket(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    plain_require(fd >= 0, "socket");
    return fd;
}

int plain_listen(uint16_t *port) {
    int fd = new_socket();
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    plain_require(bind(fd, (struct sockaddr *)&address, length) == 0, "bind");
    plain_require(listen(fd, 4096) == 0, "listen");
    plain_require(getsockname(fd, (struct sockaddr *)&address, &length) == 0, "getsockname");
    *port = ntohs(address.sin_port);
    return fd;
}

int plain_connect(uint16_t port) {
    int fd = new_socket(), on = 1;
    struct sockaddr_in address = loopback(port);
    plain_require(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

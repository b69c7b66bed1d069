#include "CPlain.h"
#include "Socket.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { message_length = 64, block_length = 256 << 10 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double plain_ping_pong(uint16_t port, size_t connections, size_t rounds) {
    char message[message_length];
    memset(message, 7, sizeof message);
    int *sockets = calloc(connections, sizeof *sockets);
    plain_require(sockets != NULL, "calloc");
    for (size_t index = 0; index < connections; index++) sockets[index] = plain_connect(port);
    double began = now();
    for (size_t round = 0; round < rounds; round++) {
        for (size_t index = 0; index < connections; index++)
            plain_require(send(sockets[index], message, sizeof message, MSG_NOSIGNAL) == message_length, "send");
        for (size_t index = 0; index < connections; index++)
            plain_require(recv(sockets[index], message, sizeof message, MSG_WAITALL) == message_length, "echo");
    }
    double seconds = now() - began;
    for (size_t index = 0; index < connections; index++) close(sockets[index]);
    free(sockets);
    return seconds;
}

double plain_bulk(uint16_t port, size_t length) {
    char *block = malloc(block_length);
    plain_require(block != NULL, "malloc");
    memset(block, 7, block_length);
    int fd = plain_connect(port);
    double began = now();
    while (length > 0) {
        ssize_t sent = send(fd, block, length < block_length ? length : block_length, MSG_NOSIGNAL);
        plain_require(sent > 0, "send");
        length -= (size_t)sent;
    }
    shutdown(fd, SHUT_WR);
    while (recv(fd, block, block_length, 0) > 0) {}
    double seconds = now() - began;
    close(fd);
    free(block);
    return seconds;
}

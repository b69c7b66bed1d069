#define _GNU_SOURCE
#include "causeway_linux.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif

#define RESTART(result, call) do { result = (call); } while (result < 0 && errno == EINTR)

void cw_address_v4(cw_address *out, uint32_t address, uint16_t port) {
    struct sockaddr_in *in = (struct sockaddr_in *)&out->storage;
    memset(in, 0, sizeof *in);
    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    in->sin_addr.s_addr = htonl(address);
    out->length = sizeof *in;
}

void cw_address_v6(cw_address *out, uint64_t high, uint64_t low, uint16_t port, uint32_t scope) {
    struct sockaddr_in6 *in = (struct sockaddr_in6 *)&out->storage;
    memset(in, 0, sizeof *in);
    in->sin6_family = AF_INET6;
    in->sin6_port = htons(port);
    in->sin6_scope_id = scope;
    uint64_t parts[2] = {__builtin_bswap64(high), __builtin_bswap64(low)};
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) { parts[0] = high; parts[1] = low; }
    memcpy(&in->sin6_addr, parts, 16);
    out->length = sizeof *in;
}

int cw_address_unix(cw_address *out, const char *path, size_t length) {
    struct sockaddr_un *un = (struct sockaddr_un *)&out->storage;
    if (length == 0) return -EINVAL;
    if (length >= sizeof un->sun_path) return -ENAMETOOLONG;
    memset(un, 0, sizeof *un);
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path, length);
    // An abstract name has an exact length. For a file name, the length also counts the terminating zero byte.
    out->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == 0 ? 0 : 1));
    return 0;
}

int cw_address_family(const cw_address *address) {
    if (address->length < sizeof(sa_family_t)) return 0;
    switch (address->storage.ss_family) {
    case AF_INET: return CW_IPV4;
    case AF_INET6: return CW_IPV6;
    case AF_UNIX: return CW_UNIX;
    default: return 0;
    }
}

void cw_address_read_v4(const cw_address *address, uint32_t *bits, uint16_t *port) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
    *bits = ntohl(in->sin_addr.s_addr);
    *port = ntohs(in->sin_port);
}

static uint64_t load_big_endian(const void *bytes) {
    const unsigned char *p = bytes;
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | p[i];
    return value;
}

void cw_address_read_v6(const cw_address *address, uint64_t *high, uint64_t *low, uint16_t *port, uint32_t *scope) {
    const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)&address->storage;
    *high = load_big_endian(&in->sin6_addr.s6_addr[0]);
    *low = load_big_endian(&in->sin6_addr.s6_addr[8]);
    *port = ntohs(in->sin6_port);
    *scope = in->sin6_scope_id;
}

size_t cw_address_read_unix(const cw_address *address, char *out, size_t capacity) {
    const struct sockaddr_un *un = (const struct sockaddr_un *)&address->storage;
    size_t header = offsetof(struct sockaddr_un, sun_path);
    if (address->length <= header) return 0;
    size_t count = address->length - header;
    if (count > sizeof un->sun_path) count = sizeof un->sun_path;
    if (un->sun_path[0] != 0) count = strnlen(un->sun_path, count);
    if (count > capacity) count = capacity;
    memcpy(out, un->sun_path, count);
    return count;
}

int cw_socket(int family, bool datagram, bool multipath) {
    int domain = family == CW_IPV4 ? AF_INET : family == CW_IPV6 ? AF_INET6 : AF_UNIX;
    int type = (datagram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(domain, type, multipath && domain != AF_UNIX && !datagram ? IPPROTO_MPTCP : 0);
    return fd < 0 ? -errno : fd;
}

int cw_close(int fd) {
    // Linux closes the descriptor also after EINTR. Closing it again could close a descriptor of another thread.
    return close(fd) < 0 && errno != EINTR ? -errno : 0;
}

int cw_duplicate(int fd) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? -errno : copy;
}

int cw_bind(int fd, const cw_address *address) {
    return bind(fd, (const struct sockaddr *)&address->storage, address->length) < 0 ? -errno : 0;
}

int cw_listen(int fd, int backlog) { return listen(fd, backlog) < 0 ? -errno : 0; }

int cw_connect(int fd, const cw_address *address) {
    int result;
    RESTART(result, connect(fd, (const struct sockaddr *)&address->storage, address->length));
    return result < 0 ? -errno : 0;
}

int cw_reconnect(int fd, const cw_address *address, const char *interface) {
    // Disconnect the socket first, because a connected socket keeps its source address. Also remove its binding to an
    // interface.
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    if (connect(fd, &none, sizeof none) < 0) return -errno;
    int bound = cw_bind_to_device(fd, interface);
    int connected = cw_connect(fd, address);
    return connected < 0 ? connected : bound;
}

int cw_accept(int fd, cw_address *peer) {
    int result;
    do {
        peer->length = sizeof peer->storage;
        result = accept4(fd, (struct sockaddr *)&peer->storage, &peer->length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : result;
}

int cw_shutdown_write(int fd) { return shutdown(fd, SHUT_WR) < 0 ? -errno : 0; }

int cw_local_address(int fd, cw_address *out) {
    out->length = sizeof out->storage;
    return getsockname(fd, (struct sockaddr *)&out->storage, &out->length) < 0 ? -errno : 0;
}

int cw_peer_address(int fd, cw_address *out) {
    out->length = sizeof out->storage;
    return getpeername(fd, (struct sockaddr *)&out->storage, &out->length) < 0 ? -errno : 0;
}

int cw_take_loss(int fd, int *behind_end) {
    int value = 0;
    socklen_t length = sizeof value;
    *behind_end = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &length) < 0) return errno;
    // If the peer sends a reset after its end of stream, Linux reports EPIPE. Report ECONNRESET instead.
    *behind_end = value == EPIPE;
    return value == EPIPE ? ECONNRESET : value;
}

int cw_take_error(int fd) {
    int ignored;
    return cw_take_loss(fd, &ignored);
}

int cw_abort_on_close(int fd) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    return setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) < 0 ? -errno : 0;
}

// These functions call the kernel directly: recv and send of the C library are cancellation points, which cost extra in a program with
// threads.

long cw_recv(int fd, void *buffer, size_t length) {
    long result;
    RESTART(result, syscall(SYS_recvfrom, fd, buffer, length, MSG_DONTWAIT, NULL, NULL));
    return result < 0 ? -errno : result;
}

long cw_send(int fd, const void *buffer, size_t length) {
    long result;
    RESTART(result, syscall(SYS_sendto, fd, buffer, length, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0));
    return result < 0 ? -errno : result;
}

long cw_sendv(int fd, const struct iovec *pieces, int count) {
    struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = (size_t)count};
    ssize_t result;
    RESTART(result, sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
    return result < 0 ? -errno : result;
}

long cw_send_fastopen(int fd, const struct iovec *pieces, int count, const cw_address *address) {
    struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = (size_t)count,
                             .msg_name = (void *)&address->storage, .msg_namelen = address->length};
    ssize_t result;
    RESTART(result, sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_FASTOPEN));
    return result < 0 ? -errno : result;
}

int cw_bytes_readable(int fd) {
    int value = 0;
    return ioctl(fd, SIOCINQ, &value) < 0 ? -errno : value;
}

int cw_bytes_unsent(int fd) {
    int value = 0;
    return ioctl(fd, SIOCOUTQ, &value) < 0 ? -errno : value;
}

#define _GNU_SOURCE
#include "netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static unsigned group_mask(unsigned groups) {
    unsigned mask = 0;
    if (groups & CW_NETLINK_LINKS) mask |= RTMGRP_LINK;
    if (groups & CW_NETLINK_ADDRESSES) mask |= RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (groups & CW_NETLINK_ROUTES) mask |= RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (groups & CW_NETLINK_RULES) mask |= 1u << (RTNLGRP_IPV4_RULE - 1) | 1u << (RTNLGRP_IPV6_RULE - 1);
    if (groups & CW_NETLINK_USER_OPTIONS) mask |= 1u << (RTNLGRP_ND_USEROPT - 1);
    return mask;
}

int cw_netlink_open(unsigned groups, bool nonblocking, bool generic) {
    int type = SOCK_RAW | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0);
    int fd = socket(AF_NETLINK, type, generic ? NETLINK_GENERIC : NETLINK_ROUTE);
    if (fd < 0) return -errno;
    // The kernel normally replies before the send call returns. The receive timeout matters only in a sandbox that
    // drops requests.
    struct timeval limit = {.tv_sec = 5};
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = group_mask(groups)};
    if ((!nonblocking && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0)
        || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        int code = errno;
        close(fd);
        return -code;
    }
    return fd;
}

int cw_netlink_send(int fd, const void *message, size_t length) {
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent;
    do {
        sent = sendto(fd, message, length, MSG_NOSIGNAL, (const struct sockaddr *)&kernel, sizeof kernel);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

long cw_netlink_receive(int fd, void *buffer, size_t length, bool *from_kernel) {
    struct sockaddr_nl sender = {0};
    socklen_t sender_length;
    ssize_t received;
    do {
        sender_length = sizeof sender;
        received = recvfrom(fd, buffer, length, MSG_TRUNC, (struct sockaddr *)&sender, &sender_length);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return -errno;
    *from_kernel = sender_length == sizeof sender && sender.nl_pid == 0;
    return received;
}

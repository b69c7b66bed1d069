// Routing sockets (rtnetlink(7)), whose address type and options Swift cannot import. As in the other headers, a call returns a result or a
// negated errno and restarts after EINTR.
#ifndef CAUSEWAY_NETLINK_H
#define CAUSEWAY_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The notification groups to subscribe to.
enum cw_netlink_group {
    CW_NETLINK_LINKS = 1, CW_NETLINK_ADDRESSES = 2, CW_NETLINK_ROUTES = 4, CW_NETLINK_RULES = 8,
    /// Options of router advertisements that the kernel passes on to user space.
    CW_NETLINK_USER_OPTIONS = 16
};

/// Opens a close-on-exec socket that is subscribed to the groups, or a generic netlink socket. A receive on a blocking socket times out
/// after 5 seconds.
int cw_netlink_open(unsigned groups, bool nonblocking, bool generic);

/// Sends one request to the kernel.
int cw_netlink_send(int fd, const void *message, size_t length);

/// Receives one datagram. Returns its full length, which exceeds `length` if the datagram was truncated. `from_kernel` becomes false if
/// another process sent the datagram.
long cw_netlink_receive(int fd, void *buffer, size_t length, bool *from_kernel);

#endif

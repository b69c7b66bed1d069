// Routing sockets (rtnetlink(7)), whose address type and options Swift does not import. As in the other headers, a
// call returns a result or a negated errno and restarts itself after EINTR.
#ifndef CAUSEWAY_NETLINK_H
#define CAUSEWAY_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What to be told about without asking.
enum cw_netlink_group {
    CW_NETLINK_LINKS = 1, CW_NETLINK_ADDRESSES = 2, CW_NETLINK_ROUTES = 4, CW_NETLINK_RULES = 8,
    /// What routers advertise that the kernel itself has no use for.
    CW_NETLINK_USER_OPTIONS = 16
};

/// A close-on-exec socket that hears the groups given, or one of generic netlink. A blocking one gives up a receive after
/// 5 seconds.
int cw_netlink_open(unsigned groups, bool nonblocking, bool generic);

/// Sends one request to the kernel.
int cw_netlink_send(int fd, const void *message, size_t length);

/// Receives one datagram. Returns its true length, which exceeds `length` when the end was cut off.
/// `from_kernel` says whether the kernel sent it: other processes can send to the socket too.
long cw_netlink_receive(int fd, void *buffer, size_t length, bool *from_kernel);

#endif

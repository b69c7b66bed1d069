#define _GNU_SOURCE
#include "causeway_linux.h"
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef IPV6_ADDR_PREFERENCES
#define IPV6_ADDR_PREFERENCES 72
#endif
#ifndef IPV6_DONTFRAG
#define IPV6_DONTFRAG 62
#endif
#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif
#ifndef IPV6_AUTOFLOWLABEL
#define IPV6_AUTOFLOWLABEL 70
#endif

static const struct { int level, name; } table[] = {
    [CW_REUSE_ADDRESS] = {SOL_SOCKET, SO_REUSEADDR},
    [CW_REUSE_PORT] = {SOL_SOCKET, SO_REUSEPORT},
    [CW_V6_ONLY] = {IPPROTO_IPV6, IPV6_V6ONLY},
    [CW_NO_DELAY] = {IPPROTO_TCP, TCP_NODELAY},
    [CW_CORK] = {IPPROTO_TCP, TCP_CORK},
    [CW_KEEPALIVE] = {SOL_SOCKET, SO_KEEPALIVE},
    [CW_KEEP_IDLE] = {IPPROTO_TCP, TCP_KEEPIDLE},
    [CW_KEEP_INTERVAL] = {IPPROTO_TCP, TCP_KEEPINTVL},
    [CW_KEEP_COUNT] = {IPPROTO_TCP, TCP_KEEPCNT},
    [CW_MAX_SEGMENT] = {IPPROTO_TCP, TCP_MAXSEG},
    [CW_USER_TIMEOUT_MS] = {IPPROTO_TCP, TCP_USER_TIMEOUT},
    [CW_QUICK_ACK] = {IPPROTO_TCP, TCP_QUICKACK},
    [CW_FAST_OPEN_CONNECT] = {IPPROTO_TCP, TCP_FASTOPEN_CONNECT},
    [CW_FAST_OPEN_QUEUE] = {IPPROTO_TCP, TCP_FASTOPEN},
    [CW_V4_TTL] = {IPPROTO_IP, IP_TTL},
    [CW_V6_HOPS] = {IPPROTO_IPV6, IPV6_UNICAST_HOPS},
    [CW_V4_TOS] = {IPPROTO_IP, IP_TOS},
    [CW_V6_TCLASS] = {IPPROTO_IPV6, IPV6_TCLASS},
    [CW_PRIORITY] = {SOL_SOCKET, SO_PRIORITY},
    [CW_V4_DONT_FRAGMENT] = {IPPROTO_IP, IP_MTU_DISCOVER},
    [CW_V6_DONT_FRAGMENT] = {IPPROTO_IPV6, IPV6_DONTFRAG},
    [CW_V6_MINIMUM_MTU] = {IPPROTO_IPV6, IPV6_MTU},
    [CW_RECEIVE_V4_TOS] = {IPPROTO_IP, IP_RECVTOS},
    [CW_RECEIVE_V6_TCLASS] = {IPPROTO_IPV6, IPV6_RECVTCLASS},
    [CW_RECEIVE_V4_PACKET_INFO] = {IPPROTO_IP, IP_PKTINFO},
    [CW_RECEIVE_V6_PACKET_INFO] = {IPPROTO_IPV6, IPV6_RECVPKTINFO},
    [CW_RECEIVE_TIME] = {SOL_SOCKET, SO_TIMESTAMPNS},
    [CW_V4_MULTICAST_LOOP] = {IPPROTO_IP, IP_MULTICAST_LOOP},
    [CW_V6_MULTICAST_LOOP] = {IPPROTO_IPV6, IPV6_MULTICAST_LOOP},
    [CW_NO_CHECKSUM] = {SOL_SOCKET, SO_NO_CHECK},
    [CW_UDP_RECEIVE_OFFLOAD] = {IPPROTO_UDP, UDP_GRO},
    [CW_RECEIVE_BUFFER] = {SOL_SOCKET, SO_RCVBUF},
    [CW_FORCED_RECEIVE_BUFFER] = {SOL_SOCKET, SO_RCVBUFFORCE},
    [CW_SEND_BUFFER] = {SOL_SOCKET, SO_SNDBUF},
    [CW_V6_ADDRESS_PREFERENCE] = {IPPROTO_IPV6, IPV6_ADDR_PREFERENCES},
    [CW_V6_AUTO_FLOW_LABEL] = {IPPROTO_IPV6, IPV6_AUTOFLOWLABEL},
    [CW_V4_MTU] = {IPPROTO_IP, IP_MTU},
    [CW_V6_MTU] = {IPPROTO_IPV6, IPV6_MTU},
    [CW_V4_RECEIVE_ERRORS] = {IPPROTO_IP, IP_RECVERR},
    [CW_V6_RECEIVE_ERRORS] = {IPPROTO_IPV6, IPV6_RECVERR},
    [CW_LINGER2] = {IPPROTO_TCP, TCP_LINGER2},
    [CW_BROADCAST] = {SOL_SOCKET, SO_BROADCAST},
    [CW_UNICAST_INTERFACE] = {IPPROTO_IP, IP_UNICAST_IF},
    [CW_V4_MULTICAST_TTL] = {IPPROTO_IP, IP_MULTICAST_TTL},
    [CW_V6_MULTICAST_HOPS] = {IPPROTO_IPV6, IPV6_MULTICAST_HOPS},
    [CW_V4_MULTICAST_ALL] = {IPPROTO_IP, IP_MULTICAST_ALL},
    [CW_V6_MULTICAST_ALL] = {IPPROTO_IPV6, IPV6_MULTICAST_ALL},
};

int cw_set_option(int fd, int option, int value) {
    if (option < 0 || option >= (int)(sizeof table / sizeof *table)) return -EINVAL;
    return setsockopt(fd, table[option].level, table[option].name, &value, sizeof value) < 0 ? -errno : 0;
}

int cw_get_option(int fd, int option) {
    if (option < 0 || option >= (int)(sizeof table / sizeof *table)) return -EINVAL;
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(fd, table[option].level, table[option].name, &value, &length) < 0 ? -errno : value;
}

int cw_bind_to_device(int fd, const char *name) {
    return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name) + 1) < 0 ? -errno : 0;
}

static void read_information(const struct tcp_info *info, cw_tcp_info *out) {
    out->rtt_us = info->tcpi_rtt;
    out->rtt_variance_us = info->tcpi_rttvar;
    out->minimum_rtt_us = info->tcpi_min_rtt;
    out->send_mss = info->tcpi_snd_mss;
    out->path_mtu = info->tcpi_pmtu;
    out->bytes_received = info->tcpi_bytes_received;
    out->bytes_acked = info->tcpi_bytes_acked;
    out->bytes_sent = info->tcpi_bytes_sent;
    out->bytes_retransmitted = info->tcpi_bytes_retrans;
    out->segments_in = info->tcpi_segs_in;
    out->segments_out = info->tcpi_segs_out;
    out->receive_out_of_order = info->tcpi_rcv_ooopack;
    out->duplicate_acks = info->tcpi_dsack_dups;
    out->fast_open_data_accepted = (info->tcpi_options & 32) != 0;
}

int cw_tcp_information(int fd, cw_tcp_info *out) {
    struct tcp_info info;
    memset(&info, 0, sizeof info);
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0) return -errno;
    read_information(&info, out);
    return 0;
}

// The kernel's interface for Multipath TCP subflows, which exists since Linux 5.16. Older kernel headers do not declare
// it. The buffer for getsockopt begins with a header, in which the program states the size of its entries. The entries
// follow.
enum { MULTIPATH_LEVEL = 284, MULTIPATH_TCP_INFO = 2, MULTIPATH_ADDRESSES = 3 };

struct subflows_head {
    uint32_t size, count, kernel_entry_size, entry_size;
};

struct subflow_addresses {
    struct sockaddr_storage local, remote;
};

static int read_subflows(int fd, int option, void *block, size_t entry_size) {
    struct subflows_head *head = block;
    memset(block, 0, sizeof *head + CW_SUBFLOWS * entry_size);
    *head = (struct subflows_head){.size = sizeof *head, .entry_size = (uint32_t)entry_size};
    socklen_t length = (socklen_t)(sizeof *head + CW_SUBFLOWS * entry_size);
    if (getsockopt(fd, MULTIPATH_LEVEL, option, block, &length) < 0) return -errno;
    return head->count < CW_SUBFLOWS ? (int)head->count : CW_SUBFLOWS;
}

static void read_address(const struct sockaddr_storage *from, cw_address *out) {
    out->storage = *from;
    out->length = from->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

int cw_subflows(int fd, cw_subflow *out) {
    struct {
        struct subflows_head head;
        struct subflow_addresses entries[CW_SUBFLOWS];
    } addresses;
    struct {
        struct subflows_head head;
        struct tcp_info entries[CW_SUBFLOWS];
    } informations;
    int count = read_subflows(fd, MULTIPATH_ADDRESSES, &addresses, sizeof *addresses.entries);
    if (count < 0) return count;
    int informed = read_subflows(fd, MULTIPATH_TCP_INFO, &informations, sizeof *informations.entries);
    // Between the two getsockopt calls, a subflow may have been added or removed. Return only the entries that both
    // calls contain.
    if (informed < count) count = informed < 0 ? 0 : informed;
    for (int i = 0; i < count; i++) {
        read_address(&addresses.entries[i].local, &out[i].local);
        read_address(&addresses.entries[i].remote, &out[i].remote);
        read_information(&informations.entries[i], &out[i].information);
    }
    return count;
}

#define _GNU_SOURCE
#include "causeway_linux.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <time.h>

#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum { receive_limit = 16, send_limit = 32 };

typedef union control_block {
    struct cmsghdr align;
    char bytes[192];
} control_block;

static uint64_t load64(const unsigned char *p) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | p[i];
    return value;
}

static void read_packet_info(cw_packet *packet, const struct cmsghdr *header) {
    if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
        struct in_pktinfo info;
        memcpy(&info, CMSG_DATA(header), sizeof info);
        packet->local_family = CW_IPV4;
        packet->local_interface = (uint32_t)info.ipi_ifindex;
        packet->local_low = ntohl(info.ipi_spec_dst.s_addr);
        packet->destination_v4 = ntohl(info.ipi_addr.s_addr);
    } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
        struct in6_pktinfo info;
        memcpy(&info, CMSG_DATA(header), sizeof info);
        packet->local_family = CW_IPV6;
        packet->local_interface = info.ipi6_ifindex;
        packet->local_high = load64(&info.ipi6_addr.s6_addr[0]);
        packet->local_low = load64(&info.ipi6_addr.s6_addr[8]);
    }
}

static uint64_t nanoseconds(const struct timespec *time) {
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

// Converts a timestamp from the kernel's wall clock to the raw monotonic clock, which programs use for comparisons.
static uint64_t to_monotonic(const struct timespec *stamp) {
    struct timespec wall, raw;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
    uint64_t age = nanoseconds(&wall) - nanoseconds(stamp);
    return age < nanoseconds(&raw) ? nanoseconds(&raw) - age : 0;
}

static void read_control(cw_packet *packet, struct msghdr *message) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level == IPPROTO_UDP && header->cmsg_type == UDP_GRO) {
            int segment = 0;
            memcpy(&segment, CMSG_DATA(header), sizeof segment);
            packet->segment = segment > 0 ? (uint32_t)segment : 0;
        } else if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_TOS) {
            packet->traffic_class = *(const unsigned char *)CMSG_DATA(header);
        } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_TCLASS) {
            int value = 0;
            memcpy(&value, CMSG_DATA(header), sizeof value);
            packet->traffic_class = (int16_t)(value & 0xff);
        } else if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec time;
            memcpy(&time, CMSG_DATA(header), sizeof time);
            packet->time_ns = to_monotonic(&time);
        } else {
            read_packet_info(packet, header);
        }
    }
    // A coalesced packet with only one segment is a single datagram.
    if (packet->segment >= packet->length) packet->segment = 0;
}

int cw_receive_packets(int fd, cw_packet *packets, int count, bool want_peer) {
    struct mmsghdr messages[receive_limit];
    struct iovec pieces[receive_limit];
    control_block control[receive_limit];
    if (count > receive_limit) count = receive_limit;
    for (int i = 0; i < count; i++) {
        pieces[i] = (struct iovec){packets[i].buffer, packets[i].length};
        messages[i].msg_hdr = (struct msghdr){
            .msg_iov = &pieces[i], .msg_iovlen = 1, .msg_control = control[i].bytes,
            .msg_controllen = sizeof control[i].bytes,
            .msg_name = want_peer ? &packets[i].peer.storage : NULL,
            .msg_namelen = want_peer ? sizeof packets[i].peer.storage : 0};
        messages[i].msg_len = 0;
    }
    int received;
    if (count == 1) {
        ssize_t length;
        do { length = recvmsg(fd, &messages[0].msg_hdr, MSG_DONTWAIT); } while (length < 0 && errno == EINTR);
        if (length < 0) return -errno;
        messages[0].msg_len = (unsigned)length;
        received = 1;
    } else {
        do { received = recvmmsg(fd, messages, (unsigned)count, MSG_DONTWAIT, NULL); } while (received < 0 && errno == EINTR);
        if (received < 0) return -errno;
    }
    for (int i = 0; i < received; i++) {
        cw_packet *packet = &packets[i];
        packet->length = messages[i].msg_len;
        packet->peer.length = messages[i].msg_hdr.msg_namelen;
        packet->truncated = (messages[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
        packet->segment = 0;
        packet->traffic_class = -1;
        packet->local_family = 0;
        packet->local_interface = packet->destination_v4 = 0;
        packet->local_high = packet->local_low = packet->time_ns = 0;
        read_control(packet, &messages[i].msg_hdr);
    }
    return received;
}

static struct cmsghdr *append(struct msghdr *message, size_t *used, int level, int type, const void *data, size_t size) {
    struct cmsghdr *header = (struct cmsghdr *)((char *)message->msg_control + *used);
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), data, size);
    *used += CMSG_SPACE(size);
    return header;
}

static void store64(unsigned char *p, uint64_t value) {
    for (int i = 0; i < 8; i++) p[i] = (unsigned char)(value >> (56 - 8 * i));
}

static void write_control(const cw_outgoing *entry, struct msghdr *message, int domain) {
    size_t used = 0;
    if (entry->segment) append(message, &used, IPPROTO_UDP, UDP_SEGMENT, &entry->segment, sizeof entry->segment);
    if (entry->traffic_class >= 0) {
        int value = entry->traffic_class;
        // An IPv6 socket uses IP_TOS for an IPv4-mapped peer and IPV6_TCLASS for an IPv6 peer.
        if (domain == AF_INET6) append(message, &used, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof value);
        else append(message, &used, IPPROTO_IP, IP_TOS, &value, sizeof value);
    }
    if (entry->local_family == CW_IPV4) {
        struct in_pktinfo info = {.ipi_ifindex = (int)entry->local_interface, .ipi_spec_dst.s_addr = htonl((uint32_t)entry->local_low)};
        append(message, &used, IPPROTO_IP, IP_PKTINFO, &info, sizeof info);
    } else if (entry->local_family == CW_IPV6) {
        struct in6_pktinfo info = {.ipi6_ifindex = entry->local_interface};
        store64(&info.ipi6_addr.s6_addr[0], entry->local_high);
        store64(&info.ipi6_addr.s6_addr[8], entry->local_low);
        append(message, &used, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info);
    }
    message->msg_controllen = used;
    if (used == 0) message->msg_control = NULL;
}

static bool is_mapped(const struct sockaddr_storage *storage) {
    return storage->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)storage)->sin6_addr);
}

int cw_send_packets(int fd, const cw_outgoing *entries, int count) {
    struct mmsghdr messages[send_limit];
    control_block control[send_limit];
    if (count > send_limit) count = send_limit;
    int domain = AF_INET;
    socklen_t length = sizeof domain;
    bool need_domain = false;
    for (int i = 0; i < count; i++) need_domain |= entries[i].traffic_class >= 0;
    if (need_domain && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0) return -errno;
    for (int i = 0; i < count; i++) {
        const cw_outgoing *entry = &entries[i];
        memset(&control[i], 0, sizeof control[i]);
        messages[i].msg_hdr = (struct msghdr){
            .msg_iov = (struct iovec *)entry->pieces, .msg_iovlen = (size_t)entry->piece_count,
            .msg_control = control[i].bytes,
            .msg_name = entry->peer ? (void *)&entry->peer->storage : NULL,
            .msg_namelen = entry->peer ? entry->peer->length : 0};
        messages[i].msg_len = 0;
        bool mapped = entry->peer && is_mapped(&entry->peer->storage);
        write_control(entry, &messages[i].msg_hdr, mapped ? AF_INET : domain);
    }
    if (count == 1) {
        ssize_t sent;
        do { sent = sendmsg(fd, &messages[0].msg_hdr, MSG_NOSIGNAL | MSG_DONTWAIT); } while (sent < 0 && errno == EINTR);
        return sent < 0 ? -errno : 1;
    }
    int sent;
    do { sent = sendmmsg(fd, messages, (unsigned)count, MSG_NOSIGNAL | MSG_DONTWAIT); } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

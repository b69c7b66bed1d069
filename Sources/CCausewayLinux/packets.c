#define _GNU_SOURCE
#include "packets.h"
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int cw_ring_open(cw_ring *ring, uint32_t interface, uint32_t block_size, uint32_t block_count, uint32_t retire_milliseconds,
                 uint32_t snap_length) {
    (void)snap_length;
    memset(ring, 0, sizeof *ring);
    // Open the socket with protocol 0. Otherwise it would receive packets before the filter is attached.
    int fd = socket(AF_PACKET, (interface ? SOCK_RAW : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    int version = TPACKET_V3;
    struct tpacket_req3 request;
    memset(&request, 0, sizeof request);
    request.tp_block_size = block_size;
    request.tp_block_nr = block_count;
    request.tp_frame_size = 2048;
    request.tp_frame_nr = block_size / 2048 * block_count;
    request.tp_retire_blk_tov = retire_milliseconds;
    if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    size_t length = (size_t)block_size * block_count;
    void *map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        int error = errno;
        close(fd);
        return -error;
    }
    ring->fd = fd;
    ring->map = map;
    ring->length = length;
    ring->block_size = block_size;
    ring->block_count = block_count;
    return 0;
}

int cw_packet_filter(int fd, const cw_filter_instruction *program, uint16_t count) {
    _Static_assert(sizeof(cw_filter_instruction) == sizeof(struct sock_filter), "as the kernel lays it out");
    struct sock_fprog filter = {count, (struct sock_filter *)program};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) < 0 ? -errno : 0;
}

int cw_ring_promiscuous(cw_ring *ring, uint32_t interface) {
    struct packet_mreq request;
    memset(&request, 0, sizeof request);
    request.mr_ifindex = (int)interface;
    request.mr_type = PACKET_MR_PROMISC;
    return setsockopt(ring->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) < 0 ? -errno : 0;
}

static int bind_to(int fd, uint32_t interface, uint16_t protocol) {
    struct sockaddr_ll address;
    memset(&address, 0, sizeof address);
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(protocol);
    address.sll_ifindex = (int)interface;
    return bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

int cw_ring_start(cw_ring *ring, uint32_t interface) { return bind_to(ring->fd, interface, ETH_P_ALL); }

int cw_ring_share(cw_ring *ring, uint16_t group, uint16_t way) {
    // Reassemble fragments first. Otherwise the fragments of one packet could reach different rings.
    static const int ways[] = {PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_DEFRAG, PACKET_FANOUT_LB, PACKET_FANOUT_CPU};
    if (way >= sizeof ways / sizeof *ways) return -EINVAL;
    int value = group | ways[way] << 16;
    return setsockopt(ring->fd, SOL_PACKET, PACKET_FANOUT, &value, sizeof value) < 0 ? -errno : 0;
}

static struct tpacket_block_desc *current(cw_ring *ring) {
    return (struct tpacket_block_desc *)((char *)ring->map + (size_t)ring->block * ring->block_size);
}

static bool is_filled(cw_ring *ring) {
    return (__atomic_load_n(&current(ring)->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
}

static void fill(const struct tpacket3_hdr *header, cw_ring_packet *packet) {
    const struct sockaddr_ll *address =
        (const struct sockaddr_ll *)((const char *)header + TPACKET_ALIGN(sizeof(struct tpacket3_hdr)));
    packet->data = (const uint8_t *)header + header->tp_mac;
    packet->captured = header->tp_snaplen;
    packet->original = header->tp_len;
    packet->seconds = header->tp_sec;
    packet->nanoseconds = header->tp_nsec;
    packet->has_vlan = (header->tp_status & TP_STATUS_VLAN_VALID) != 0;
    packet->vlan = (uint16_t)header->hv1.tp_vlan_tci;
    packet->vlan_type = (header->tp_status & TP_STATUS_VLAN_TPID_VALID) ? header->hv1.tp_vlan_tpid : ETH_P_8021Q;
    packet->checksum_pending = (header->tp_status & TP_STATUS_CSUMNOTREADY) != 0;
    packet->direction = address->sll_pkttype;
    packet->hardware = address->sll_hatype;
    packet->protocol = ntohs(address->sll_protocol);
    packet->interface = (uint32_t)address->sll_ifindex;
    packet->address_length = address->sll_halen;
    memcpy(packet->address, address->sll_addr, 8);
}

int cw_ring_next(cw_ring *ring, cw_ring_packet *packet) {
    for (;;) {
        struct tpacket_block_desc *block = current(ring);
        if (ring->offset == 0) {
            if (!is_filled(ring)) return 0;
            ring->left = block->hdr.bh1.num_pkts;
            ring->offset = block->hdr.bh1.offset_to_first_pkt;
        }
        if (ring->left > 0) {
            struct tpacket3_hdr *header = (struct tpacket3_hdr *)((char *)block + ring->offset);
            fill(header, packet);
            ring->left -= 1;
            ring->offset += header->tp_next_offset;
            return 1;
        }
        __atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        ring->offset = 0;
        ring->block = (ring->block + 1) % ring->block_count;
    }
}

int cw_ring_wait(cw_ring *ring, int milliseconds) {
    if (ring->offset != 0 || is_filled(ring)) return 1;
    struct pollfd entry = {ring->fd, POLLIN | POLLERR, 0};
    int result = poll(&entry, 1, milliseconds);
    if (result < 0) return errno == EINTR ? 0 : -errno;
    if (entry.revents & POLLERR) {
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(ring->fd, SOL_SOCKET, SO_ERROR, &error, &length);
        return error ? -error : 0;
    }
    return result;
}

int cw_ring_statistics(cw_ring *ring, uint32_t *seen, uint32_t *dropped) {
    struct tpacket_stats_v3 statistics;
    socklen_t length = sizeof statistics;
    if (getsockopt(ring->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) < 0) return -errno;
    *seen = statistics.tp_packets;
    *dropped = statistics.tp_drops;
    return 0;
}

void cw_ring_close(cw_ring *ring) {
    if (ring->map == NULL) return;
    munmap(ring->map, ring->length);
    close(ring->fd);
    ring->map = NULL;
}

int cw_hardware_type(const char *name) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    int result = ioctl(fd, SIOCGIFHWADDR, &request) < 0 ? -errno : request.ifr_hwaddr.sa_family;
    close(fd);
    return result;
}

int cw_frame_socket(uint32_t interface) {
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    int result = bind_to(fd, interface, 0);
    if (result < 0) {
        close(fd);
        return result;
    }
    return fd;
}

int cw_arp_socket(uint32_t interface) {
    // The protocol is 0 until the socket is bound to the interface, so that the socket never receives frames of other interfaces.
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    int result = bind_to(fd, interface, ETH_P_ARP);
    if (result < 0) {
        close(fd);
        return result;
    }
    return fd;
}

int cw_raw_ip_socket(bool is_ipv6) {
    int fd = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    if (fd < 0) return -errno;
    // Allow a broadcast address as the destination in the packet's header.
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    return fd;
}

int cw_raw_tcp_socket(bool is_ipv6, uint16_t first, uint16_t count) {
    int fd = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (fd < 0) return -errno;
    // The filter reads the destination port. With IPv4, it skips the IP header. IPv6 raw sockets do not deliver the IP
    // header.
    struct sock_filter v4[] = {
        BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
        BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)first + count, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xFFFF),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_filter v6[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)first + count, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xFFFF),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog filter = {is_ipv6 ? 5 : 6, is_ipv6 ? v6 : v4};
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    cw_report_errors(fd, is_ipv6);
    return fd;
}

int cw_report_errors(int fd, bool is_ipv6) {
    int on = 1;
    int result = is_ipv6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on)
                         : setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
    return result < 0 ? -errno : 0;
}

void cw_set_receive_room(int fd, int bytes) {
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

int cw_set_unfragmented(int fd, bool is_ipv6, bool never) {
    int value = is_ipv6 ? (never ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_WANT) : (never ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DONT);
    int result = is_ipv6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &value, sizeof value)
                         : setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &value, sizeof value);
    return result < 0 ? -errno : 0;
}

int cw_icmp_socket(bool is_ipv6, bool raw) {
    int fd = socket(is_ipv6 ? AF_INET6 : AF_INET, (raw ? SOCK_RAW : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    is_ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
    if (fd < 0) return -errno;
    int on = 1;
    if (is_ipv6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof on);
        if (raw) {
            int offset = 2;
            setsockopt(fd, IPPROTO_IPV6, IPV6_CHECKSUM, &offset, sizeof offset);
        }
    } else {
        setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
        setsockopt(fd, IPPROTO_IP, IP_RECVTTL, &on, sizeof on);
    }
    cw_stamp_arrivals(fd);
    return fd;
}

void cw_stamp_arrivals(int fd) {
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

int cw_set_hop_limit(int fd, bool is_ipv6, int hops) {
    int result = is_ipv6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, &hops, sizeof hops)
                         : setsockopt(fd, IPPROTO_IP, IP_TTL, &hops, sizeof hops);
    return result < 0 ? -errno : 0;
}

long cw_sendto(int fd, const void *buffer, size_t length, const cw_address *address) {
    ssize_t result;
    do result = sendto(fd, buffer, length, MSG_NOSIGNAL, (const struct sockaddr *)&address->storage, address->length);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : result;
}

// Computes a timestamp's age with the wall clock, because the timestamp comes from the wall clock. The clock is
// unlikely to change in the microseconds between the packet's arrival and this call.
static int64_t age_since(const struct timespec *stamp) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t age = ((int64_t)now.tv_sec - stamp->tv_sec) * 1000000000 + (now.tv_nsec - stamp->tv_nsec);
    return age >= 0 ? age : -1;
}

static void read_control(struct msghdr *message, cw_datagram *datagram) {
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        bool v4 = part->cmsg_level == IPPROTO_IP, v6 = part->cmsg_level == IPPROTO_IPV6;
        if ((v4 && part->cmsg_type == IP_TTL) || (v6 && part->cmsg_type == IPV6_HOPLIMIT)) {
            memcpy(&datagram->hops, CMSG_DATA(part), sizeof(int));
        } else if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec stamp;
            memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
            datagram->age = age_since(&stamp);
        } else if ((v4 && part->cmsg_type == IP_RECVERR) || (v6 && part->cmsg_type == IPV6_RECVERR)) {
            const struct sock_extended_err *error = (const struct sock_extended_err *)CMSG_DATA(part);
            datagram->error = (int)error->ee_errno;
            datagram->icmp_type = error->ee_type;
            datagram->icmp_code = error->ee_code;
            datagram->information = error->ee_info;
            const struct sockaddr *offender = SO_EE_OFFENDER(error);
            socklen_t length = offender->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
                               : offender->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                                 : 0;
            memcpy(&datagram->offender.storage, offender, length);
            datagram->offender.length = length;
        }
    }
}

static long receive(int fd, void *buffer, size_t length, cw_datagram *datagram, int flags) {
    char control[512];
    struct iovec piece = {buffer, length};
    struct msghdr message = {&datagram->peer.storage, sizeof datagram->peer.storage, &piece, 1, control, sizeof control, 0};
    ssize_t result;
    do result = recvmsg(fd, &message, flags | MSG_DONTWAIT);
    while (result < 0 && errno == EINTR);
    if (result < 0) return -errno;
    datagram->peer.length = message.msg_namelen;
    datagram->length = (size_t)result;
    read_control(&message, datagram);
    return result;
}

long cw_receive_one(int fd, void *buffer, size_t length, cw_datagram *datagram, bool error) {
    memset(datagram, 0, sizeof *datagram);
    datagram->hops = -1;
    datagram->age = -1;
    return receive(fd, buffer, length, datagram, error ? MSG_ERRQUEUE : 0);
}

long cw_receive_datagram(int fd, void *buffer, size_t length, cw_datagram *datagram) {
    long result = cw_receive_one(fd, buffer, length, datagram, true);
    return result == -EAGAIN ? cw_receive_one(fd, buffer, length, datagram, false) : result;
}

enum { most_at_once = 64 };

int cw_send_to_peers(int fd, const void *bytes, size_t size, const cw_address *peers, const uint32_t *which, int count) {
    struct mmsghdr messages[most_at_once];
    struct iovec pieces[most_at_once];
    if (count > most_at_once) count = most_at_once;
    for (int i = 0; i < count; i++) {
        const cw_address *peer = &peers[which[i]];
        pieces[i] = (struct iovec){(char *)bytes + (size_t)i * size, size};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = (void *)&peer->storage, .msg_namelen = peer->length, .msg_iov = &pieces[i], .msg_iovlen = 1};
    }
    int sent;
    do sent = sendmmsg(fd, messages, (unsigned)count, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

int cw_receive_many(int fd, void *bytes, size_t size, cw_address *peers, uint32_t *lengths, int count) {
    struct mmsghdr messages[most_at_once];
    struct iovec pieces[most_at_once];
    if (count > most_at_once) count = most_at_once;
    for (int i = 0; i < count; i++) {
        pieces[i] = (struct iovec){(char *)bytes + (size_t)i * size, size};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &peers[i].storage, .msg_namelen = sizeof peers[i].storage, .msg_iov = &pieces[i], .msg_iovlen = 1};
    }
    int received;
    do received = recvmmsg(fd, messages, (unsigned)count, MSG_DONTWAIT, NULL);
    while (received < 0 && errno == EINTR);
    if (received < 0) return -errno;
    for (int i = 0; i < received; i++) {
        peers[i].length = messages[i].msg_hdr.msg_namelen;
        lengths[i] = messages[i].msg_len;
    }
    return received;
}

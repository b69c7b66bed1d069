// Packets as the link carries them: AF_PACKET with a ring that the kernel fills in blocks (TPACKET_V3), and raw sockets.
#ifndef CAUSEWAY_PACKETS_H
#define CAUSEWAY_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "causeway_linux.h"

/// One instruction of classic BPF, as the kernel takes it.
typedef struct cw_filter_instruction {
    uint16_t code;
    uint8_t jt, jf;
    uint32_t k;
} cw_filter_instruction;

/// A ring of blocks, shared with the kernel.
typedef struct cw_ring {
    int fd;
    void *map;
    size_t length;
    uint32_t block_size, block_count;
    /// The block that is read next, and where in it; its packets that are left.
    uint32_t block, left;
    size_t offset;
} cw_ring;

/// A packet in the ring, valid until `cw_ring_next` is asked for the one after.
typedef struct cw_ring_packet {
    const uint8_t *data;
    uint32_t captured, original;
    uint32_t seconds, nanoseconds;
    uint16_t vlan, vlan_type;
    bool has_vlan, checksum_pending;
    /// As in a cooked header: 0 to this host, 1 broadcast, 2 multicast, 3 to others, 4 outgoing.
    uint8_t direction;
    uint16_t hardware, protocol;
    uint32_t interface;
    uint8_t address_length;
    uint8_t address[8];
} cw_ring_packet;

/// Opens a ring of `block_count` blocks. `interface` 0 is every interface, whose packets come without link headers.
/// Nothing is captured before `cw_ring_start`. Returns 0 or a negated errno.
int cw_ring_open(cw_ring *ring, uint32_t interface, uint32_t block_size, uint32_t block_count, uint32_t retire_milliseconds,
                 uint32_t snap_length);
int cw_packet_filter(int fd, const cw_filter_instruction *program, uint16_t count);
int cw_ring_promiscuous(cw_ring *ring, uint32_t interface);
int cw_ring_start(cw_ring *ring, uint32_t interface);
/// Shares the packets with the other rings of a group: 0 by conversation, 1 in turns, 2 by processor. After the start.
int cw_ring_share(cw_ring *ring, uint16_t group, uint16_t way);
/// 1 with a packet, 0 when there is none yet. Gives blocks back to the kernel as they are done with.
int cw_ring_next(cw_ring *ring, cw_ring_packet *packet);
/// Waits for packets, at most so long. 1 when there are some, 0 when not, or a negated errno.
int cw_ring_wait(cw_ring *ring, int milliseconds);
/// Packets seen and dropped since the last call.
int cw_ring_statistics(cw_ring *ring, uint32_t *seen, uint32_t *dropped);
void cw_ring_close(cw_ring *ring);
/// The kind of link of an interface (ARPHRD_), or a negated errno.
int cw_hardware_type(const char *name);

/// A socket that sends whole frames on an interface.
int cw_frame_socket(uint32_t interface);
/// The same, which receives the frames of ARP as well and never waits.
int cw_arp_socket(uint32_t interface);
/// A socket that sends IP packets with the header as given.
int cw_raw_ip_socket(bool is_ipv6);

/// A socket that sends TCP segments without their IP headers, and receives those to `count` ports from `first` on. Errors are reported.
int cw_raw_tcp_socket(bool is_ipv6, uint16_t first, uint16_t count);
/// Asks a datagram socket for reports of routers and hosts about what it sent.
int cw_report_errors(int fd, bool is_ipv6);
/// Room for what was received and not read yet; as much of it as this process may have.
void cw_set_receive_room(int fd, int bytes);
/// Do not let packets be cut up on their way: 0 the system's choice, 1 never.
int cw_set_unfragmented(int fd, bool is_ipv6, bool never);

/// An ICMP socket: of the kind that needs no privilege, or raw. Asks for kernel time stamps, hop limits and errors.
int cw_icmp_socket(bool is_ipv6, bool raw);
/// The kernel tells when what is received came. Best effort: without it that is when it is received.
void cw_stamp_arrivals(int fd);
int cw_set_hop_limit(int fd, bool is_ipv6, int hops);

/// What is known of a datagram, or of an error that the network reported.
typedef struct cw_datagram {
    cw_address peer;
    size_t length;
    /// Time to live or hop limit, -1 where the kernel did not say.
    int hops;
    /// Set where this is an error: the errno, and what ICMP said.
    int error;
    uint8_t icmp_type, icmp_code;
    uint32_t information;
    /// Nanoseconds that it waited for being received here, -1 where the kernel did not say when it came.
    int64_t age;
    /// Who reported the error.
    cw_address offender;
} cw_datagram;

/// Sends packets of `size` bytes that lie behind each other, each to that of the peers whose place stands in `which`; at most 64.
/// Returns how many were taken, or a negated errno for the first.
int cw_send_to_peers(int fd, const void *bytes, size_t size, const cw_address *peers, const uint32_t *which, int count);
/// Takes up to `count` (at most 64) datagrams that have come, no errors, the first `size` bytes of each, one `size` behind the other.
/// Returns how many there were, or a negated errno.
int cw_receive_many(int fd, void *bytes, size_t size, cw_address *peers, uint32_t *lengths, int count);

long cw_sendto(int fd, const void *buffer, size_t length, const cw_address *address);
/// Bytes received or a negated errno. Errors that wait are given before datagrams, with the packet that caused them.
long cw_receive_datagram(int fd, void *buffer, size_t length, cw_datagram *datagram);
/// The same of one of the two.
long cw_receive_one(int fd, void *buffer, size_t length, cw_datagram *datagram, bool error);

#endif

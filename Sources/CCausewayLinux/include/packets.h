// Link-layer packets: AF_PACKET with a ring that the kernel fills in blocks (TPACKET_V3), and raw sockets.
#ifndef CAUSEWAY_PACKETS_H
#define CAUSEWAY_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "causeway_linux.h"

/// One instruction of classic BPF, in the kernel's form.
typedef struct cw_filter_instruction {
    uint16_t code;
    uint8_t jt, jf;
    uint32_t k;
} cw_filter_instruction;

/// A ring of blocks shared with the kernel.
typedef struct cw_ring {
    int fd;
    void *map;
    size_t length;
    uint32_t block_size, block_count;
    /// The index of the current block, the number of its unread packets, and the read position.
    uint32_t block, left;
    size_t offset;
} cw_ring;

/// A packet in the ring, valid until the next call of `cw_ring_next`.
typedef struct cw_ring_packet {
    const uint8_t *data;
    uint32_t captured, original;
    uint32_t seconds, nanoseconds;
    uint16_t vlan, vlan_type;
    bool has_vlan, checksum_pending;
    /// The packet's direction, as numbered in a Linux cooked capture header: 0 to this host, 1 broadcast, 2 multicast,
    /// 3 to another host, 4 outgoing.
    uint8_t direction;
    uint16_t hardware, protocol;
    uint32_t interface;
    uint8_t address_length;
    uint8_t address[8];
} cw_ring_packet;

/// Opens a ring of `block_count` blocks. `interface` 0 captures on all interfaces, without link headers. Capturing starts with
/// `cw_ring_start`. Returns 0 or a negated errno.
int cw_ring_open(cw_ring *ring, uint32_t interface, uint32_t block_size, uint32_t block_count, uint32_t retire_milliseconds,
                 uint32_t snap_length);
int cw_packet_filter(int fd, const cw_filter_instruction *program, uint16_t count);
int cw_ring_promiscuous(cw_ring *ring, uint32_t interface);
int cw_ring_start(cw_ring *ring, uint32_t interface);
/// Distributes the packets among the rings of a group. `way`: 0 by flow, 1 round robin, 2 by processor. Call after the start.
int cw_ring_share(cw_ring *ring, uint16_t group, uint16_t way);
/// Takes the next packet. Returns 1 if there is a packet, 0 if there is none yet. Returns a block to the kernel when
/// all packets in the block have been read.
int cw_ring_next(cw_ring *ring, cw_ring_packet *packet);
/// Waits for packets, for at most the given time. Returns 1 if there are packets, 0 if not, or a negated errno.
int cw_ring_wait(cw_ring *ring, int milliseconds);
/// Writes the number of packets seen and dropped since the last call.
int cw_ring_statistics(cw_ring *ring, uint32_t *seen, uint32_t *dropped);
void cw_ring_close(cw_ring *ring);
/// Returns the hardware type of an interface (ARPHRD_), or a negated errno.
int cw_hardware_type(const char *name);

/// Opens a socket that sends frames on an interface.
int cw_frame_socket(uint32_t interface);
/// Opens a non-blocking socket that sends frames on an interface and receives ARP frames.
int cw_arp_socket(uint32_t interface);
/// Opens a socket that sends IP packets. The caller supplies the IP header.
int cw_raw_ip_socket(bool is_ipv6);

/// Opens a socket for TCP segments without IP headers. It can send any segments. It receives segments to `count` ports,
/// the first of which is `first`. The socket's error queue is enabled.
int cw_raw_tcp_socket(bool is_ipv6, uint16_t first, uint16_t count);
/// Enables the error queue of a datagram socket, which receives the ICMP errors for its packets.
int cw_report_errors(int fd, bool is_ipv6);
/// Sets the size of the receive buffer, limited to the maximum that this process may have.
void cw_set_receive_room(int fd, int bytes);
/// Sets the Don't Fragment bit if `never` is true; otherwise the system's default applies.
int cw_set_unfragmented(int fd, bool is_ipv6, bool never);

/// Opens an unprivileged or a raw ICMP socket. Enables kernel timestamps, hop limits and the error queue.
int cw_icmp_socket(bool is_ipv6, bool raw);
/// Enables arrival timestamps. Errors are ignored: without a timestamp from the kernel, the time of the receive call is
/// used instead.
void cw_stamp_arrivals(int fd);
int cw_set_hop_limit(int fd, bool is_ipv6, int hops);

/// The metadata of a datagram, or of an error from the error queue.
typedef struct cw_datagram {
    cw_address peer;
    size_t length;
    /// The TTL or hop limit, -1 if unknown.
    int hops;
    /// For an error: the errno and the ICMP type and code.
    int error;
    uint8_t icmp_type, icmp_code;
    uint32_t information;
    /// Nanoseconds between arrival and receive, -1 if the kernel did not report the arrival time.
    int64_t age;
    /// The host that reported the error.
    cw_address offender;
} cw_datagram;

/// Sends `count` (at most 64) packets of `size` bytes each, which follow one another in `bytes`. For each packet,
/// `which` has the index of its peer. Returns the number of packets sent. If the first packet cannot be sent, returns a
/// negated errno.
int cw_send_to_peers(int fd, const void *bytes, size_t size, const cw_address *peers, const uint32_t *which, int count);
/// Receives up to `count` (at most 64) pending datagrams. Does not read the error queue. Stores at most the first
/// `size` bytes of each datagram, one datagram after the other. Returns the number of datagrams, or a negated errno.
int cw_receive_many(int fd, void *bytes, size_t size, cw_address *peers, uint32_t *lengths, int count);

long cw_sendto(int fd, const void *buffer, size_t length, const cw_address *address);
/// Receives one datagram or one pending error. Returns the number of bytes, or a negated errno.
///
/// If there are both, the error is received first. With an error, the bytes are those of the packet that has caused it.
long cw_receive_datagram(int fd, void *buffer, size_t length, cw_datagram *datagram);
/// Like cw_receive_datagram, but receives only errors if `error` is true, and otherwise only datagrams.
long cw_receive_one(int fd, void *buffer, size_t length, cw_datagram *datagram, bool error);

#endif

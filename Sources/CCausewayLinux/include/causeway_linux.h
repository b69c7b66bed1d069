// Functions of the kernel and of libc that Swift cannot import: control messages, packed epoll events, datagram
// batches, and function-like macros.
//
// Every function returns a result or a negated errno, so that no other call can overwrite errno in between. After
// EINTR, a function starts its system call again.
#ifndef CAUSEWAY_LINUX_H
#define CAUSEWAY_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

// MARK: Addresses

/// A socket address of any family, in the kernel's form.
typedef struct cw_address {
    struct sockaddr_storage storage;
    socklen_t length;
} cw_address;

void cw_address_v4(cw_address *out, uint32_t address, uint16_t port);
void cw_address_v6(cw_address *out, uint64_t high, uint64_t low, uint16_t port, uint32_t scope);
/// Creates the address of a Unix-domain socket. A path that begins with a zero byte is in the abstract namespace.
int cw_address_unix(cw_address *out, const char *path, size_t length);
/// Returns 4, 6, 1 (AF_UNIX), or 0 for another family.
int cw_address_family(const cw_address *address);
void cw_address_read_v4(const cw_address *address, uint32_t *bits, uint16_t *port);
void cw_address_read_v6(const cw_address *address, uint64_t *high, uint64_t *low, uint16_t *port, uint32_t *scope);
size_t cw_address_read_unix(const cw_address *address, char *out, size_t capacity);

// MARK: Sockets

enum cw_domain { CW_IPV4 = 4, CW_IPV6 = 6, CW_UNIX = 1 };

/// Opens a non-blocking, close-on-exec socket.
int cw_socket(int family, bool datagram, bool multipath);
int cw_close(int fd);
int cw_duplicate(int fd);
int cw_bind(int fd, const cw_address *address);
int cw_listen(int fd, int backlog);
int cw_connect(int fd, const cw_address *address);
/// Connects a datagram socket again, over one interface if a name is given. The kernel selects a new local address.
int cw_reconnect(int fd, const cw_address *address, const char *interface);
int cw_accept(int fd, cw_address *peer);
int cw_shutdown_write(int fd);
int cw_local_address(int fd, cw_address *out);
int cw_peer_address(int fd, cw_address *out);
/// Returns the pending error of a socket as a positive errno, 0 if there is none.
int cw_take_error(int fd);
/// Like cw_take_error. `behind_end` becomes 1 if the error is a reset that arrived after the peer's end of stream.
int cw_take_loss(int fd, int *behind_end);
/// Makes `close` send a reset and drop the queued data.
int cw_abort_on_close(int fd);

long cw_recv(int fd, void *buffer, size_t length);
long cw_send(int fd, const void *buffer, size_t length);
long cw_sendv(int fd, const struct iovec *pieces, int count);
/// Connects with data in the SYN (TCP Fast Open). Returns the number of bytes accepted or a negated errno.
long cw_send_fastopen(int fd, const struct iovec *pieces, int count, const cw_address *address);
int cw_bytes_readable(int fd);
int cw_bytes_unsent(int fd);

// MARK: Options

enum cw_option {
    CW_REUSE_ADDRESS, CW_REUSE_PORT, CW_V6_ONLY, CW_NO_DELAY, CW_CORK, CW_KEEPALIVE, CW_KEEP_IDLE, CW_KEEP_INTERVAL,
    CW_KEEP_COUNT, CW_MAX_SEGMENT, CW_USER_TIMEOUT_MS, CW_QUICK_ACK, CW_FAST_OPEN_CONNECT, CW_FAST_OPEN_QUEUE,
    CW_V4_TTL, CW_V6_HOPS, CW_V4_TOS, CW_V6_TCLASS, CW_PRIORITY, CW_V4_DONT_FRAGMENT, CW_V6_DONT_FRAGMENT,
    CW_V6_MINIMUM_MTU, CW_RECEIVE_V4_TOS, CW_RECEIVE_V6_TCLASS, CW_RECEIVE_V4_PACKET_INFO, CW_RECEIVE_V6_PACKET_INFO,
    CW_RECEIVE_TIME, CW_V4_MULTICAST_LOOP, CW_V6_MULTICAST_LOOP, CW_NO_CHECKSUM, CW_UDP_RECEIVE_OFFLOAD,
    CW_RECEIVE_BUFFER, CW_SEND_BUFFER, CW_V6_ADDRESS_PREFERENCE, CW_V6_AUTO_FLOW_LABEL, CW_V4_MTU, CW_V6_MTU,
    CW_V4_RECEIVE_ERRORS, CW_V6_RECEIVE_ERRORS, CW_LINGER2, CW_UNICAST_INTERFACE, CW_BROADCAST,
    CW_V4_MULTICAST_TTL, CW_V6_MULTICAST_HOPS, CW_V4_MULTICAST_ALL, CW_V6_MULTICAST_ALL,
    CW_FORCED_RECEIVE_BUFFER
};
int cw_set_option(int fd, int option, int value);
/// Returns the option's value or a negated errno.
int cw_get_option(int fd, int option);
int cw_bind_to_device(int fd, const char *name);

typedef struct cw_tcp_info {
    uint32_t rtt_us, rtt_variance_us, minimum_rtt_us, send_mss, path_mtu;
    uint64_t bytes_received, bytes_acked, bytes_sent, bytes_retransmitted, segments_in, segments_out;
    uint32_t receive_out_of_order, duplicate_acks;
    bool fast_open_data_accepted;
} cw_tcp_info;
int cw_tcp_information(int fd, cw_tcp_info *out);

/// Maximum number of subflows that one call returns. A subflow is one TCP connection of a Multipath TCP connection (RFC 8684).
enum { CW_SUBFLOWS = 8 };
typedef struct cw_subflow {
    cw_address local, remote;
    cw_tcp_info information;
} cw_subflow;
/// Writes at most CW_SUBFLOWS entries. Returns their number, or a negated errno if the connection is plain TCP.
int cw_subflows(int fd, cw_subflow *out);

// MARK: Datagrams

/// One received datagram, or several datagrams of equal size that the kernel coalesced (GRO).
typedef struct cw_packet {
    /// In: the buffer and its size. Out: the number of bytes received.
    void *buffer;
    size_t length;
    cw_address peer;
    /// Bytes of each coalesced datagram; 0 for a single datagram.
    uint32_t segment;
    /// The packet's byte with DSCP and ECN; -1 if unknown.
    int16_t traffic_class;
    bool truncated;
    /// The local address that received the packet, for replies from a wildcard socket. Family 0 if unknown.
    uint8_t local_family;
    uint32_t local_interface;
    uint64_t local_high, local_low;
    /// The destination address in the IPv4 header, for example a multicast group. For an IPv6 packet, the destination
    /// is the local address.
    uint32_t destination_v4;
    /// Nanoseconds of the raw monotonic clock; 0 if not requested.
    uint64_t time_ns;
} cw_packet;

/// Returns the address of a packet's peer. Under ThreadSanitizer (6.3.1), Swift code that reads the field directly does
/// not compile.
static inline const cw_address *cw_packet_peer(const cw_packet *packet) { return &packet->peer; }
static inline bool cw_packet_has_peer_of(const cw_packet *packet, const cw_packet *other) {
    return packet->peer.length == other->peer.length
        && memcmp(&packet->peer.storage, &other->peer.storage, packet->peer.length) == 0;
}

/// Receives up to `count` (at most 16) packets. Returns their number, or a negated errno.
int cw_receive_packets(int fd, cw_packet *packets, int count, bool want_peer);

/// One datagram to send, or several datagrams of size `segment` that the kernel splits (GSO).
typedef struct cw_outgoing {
    const struct iovec *pieces;
    int piece_count;
    /// Bytes of each datagram; 0 for a single datagram.
    uint16_t segment;
    /// The byte with DSCP and ECN; -1 for the socket's default.
    int16_t traffic_class;
    /// The destination; null on a connected socket.
    const cw_address *peer;
    /// Source address and interface for a wildcard socket. Family 0 or interface 0 leave the choice to the kernel.
    uint8_t local_family;
    uint32_t local_interface;
    uint64_t local_high, local_low;
} cw_outgoing;

/// Sends up to `count` (at most 32) entries. Returns the number of entries sent, or a negated errno for the first.
int cw_send_packets(int fd, const cw_outgoing *entries, int count);

/// Joins a multicast group on one interface, for all senders or only for `source` (RFC 3678 §5).
int cw_join_group(int fd, const cw_address *group, uint32_t interface, const cw_address *source);
int cw_leave_group(int fd, const cw_address *group, uint32_t interface, const cw_address *source);

// MARK: Readiness

enum cw_readiness { CW_READABLE = 1, CW_WRITABLE = 2, CW_PEER_CLOSED = 4, CW_HANG_UP = 8, CW_FAILED = 16 };

typedef struct cw_event {
    uint64_t token;
    uint32_t readiness;
} cw_event;

int cw_clock_watch(void);
bool cw_clock_has_jumped(int fd);
int cw_epoll_create(void);
int cw_epoll_add(int epoll, int fd, uint64_t token, uint32_t readiness);
int cw_epoll_modify(int epoll, int fd, uint64_t token, uint32_t readiness);
int cw_epoll_remove(int epoll, int fd);
/// Waits for events for at most `timeout_ns` nanoseconds (negative: forever). If a signal interrupts the wait (EINTR),
/// returns 0.
int cw_epoll_wait(int epoll, cw_event *events, int capacity, int64_t timeout_ns);
int cw_wake_create(void);
void cw_wake_signal(int fd);
void cw_wake_drain(int fd);

// MARK: Process

/// Nanoseconds of the monotonic clock.
uint64_t cw_now(void);
int cw_processor_count(void);
/// Runs `body(context)` on a detached thread with every signal blocked. Returns 0 or a negated errno.
int cw_thread_start(const char *name, void (*body)(void *), void *context);
/// Peak and current resident memory in bytes.
void cw_memory(uint64_t *peak, uint64_t *current);
/// Makes the allocator return freed memory to the system instead of keeping it for speed.
void cw_keep_memory_small(void);
/// Makes the allocator keep up to some megabytes of freed memory.
void cw_keep_freed_memory(void);
/// Returns free memory to the system and drops the program's code pages. If a dropped page is needed again, the kernel reads it from the
/// file.
void cw_release_memory(void);

// MARK: Files

/// Locks a file for this open file description, without waiting. Returns 0 or a negated errno.
int cw_lock_file(int descriptor);
/// Releases the lock of this open file description. Children that have inherited the description no longer hold the
/// lock either. Returns 0 or a negated errno.
int cw_unlock_file(int descriptor);
/// Returns 1 if another open file description has locked the file, 0 if not, or a negated errno.
int cw_file_is_locked(int descriptor);
/// Renames a file within the file system of a directory unless the new name exists. Names are relative to `directory`, which may be
/// AT_FDCWD. Returns 0 or a negated errno: -EEXIST if the new name exists; the file then keeps its name.
int cw_rename_new(int directory, const char *from, const char *to);

// MARK: Thread

/// Size in bytes of a thread's scratch block. `cw_scratch` returns the block of the calling thread, and each call
/// returns the same block, so the thread can use its content only until its next call of `cw_scratch`. The block is
/// freed when the thread ends.
enum { CW_SCRATCH_SIZE = 262144 };
void *cw_scratch(void);
/// Transfers ownership of the thread's scratch block to the caller, who releases the block with `free`.
void *cw_take_scratch(void);
/// Returns a pointer that is stored for the calling thread. Each thread can store two pointers, in the slots 0 and 1.
/// Both are null at first.
void *cw_thread_word(int slot);
void cw_set_thread_word(int slot, void *word);
/// The Swift task that runs on this thread, or null. Not retained.
void *cw_current_task(void);
bool cw_task_is_cancelled(void *task);

/// Prefetches memory into the processor's cache. Any address is allowed, because nothing is read.
void cw_fetch(const void *start, size_t length);

/// Notify ThreadSanitizer that a lock was acquired, or that it will be released. Without ThreadSanitizer, these
/// functions do nothing.
void cw_lock_acquired(const void *lock);
void cw_lock_releasing(const void *lock);

#endif

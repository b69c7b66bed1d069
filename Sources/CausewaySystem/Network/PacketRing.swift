package import CCausewayLinux

/// A packet in the ring. Its bytes are valid until the next packet is read.
package typealias RingPacket = cw_ring_packet

/// Captures an interface's packets through a ring buffer that the kernel fills (TPACKET_V3).
///
/// Confined to one thread.
package struct PacketRing: ~Copyable {
    private var ring: cw_ring
    private let interface: UInt32

    /// Opens a ring. Capturing starts with ``start()``.
    ///
    /// - Parameters:
    ///   - interface: The interface index; 0 captures on all interfaces, without link headers.
    ///   - byteCount: The ring size in bytes, in blocks of 256 KiB.
    ///   - retireMilliseconds: The maximum time that a packet waits for later packets to fill its block, before the
    ///     block is delivered.
    /// - Throws: ``SystemError``; `EPERM` if the process may not capture.
    package init(interface: UInt32, byteCount: Int, retireMilliseconds: UInt32) throws(SystemError) {
        var ring = cw_ring()
        let block = 256 * 1024
        let count = UInt32(clamping: max(byteCount / block, 2))
        try check(
            cw_ring_open(&ring, interface, UInt32(block), count, retireMilliseconds, 0), "socket(AF_PACKET)")
        self.ring = ring
        self.interface = interface
    }

    deinit {
        var ring = ring
        cw_ring_close(&ring)
    }

    /// Attaches a filter program. The kernel drops the packets that the program rejects.
    package borrowing func attach(
        _ program: [(code: UInt16, jt: UInt8, jf: UInt8, k: UInt32)]
    ) throws(SystemError) {
        let instructions = program.map { cw_filter_instruction(code: $0.code, jt: $0.jt, jf: $0.jf, k: $0.k) }
        try check(
            cw_packet_filter(ring.fd, instructions, UInt16(clamping: instructions.count)),
            "setsockopt(SO_ATTACH_FILTER)")
    }

    package mutating func listenToEverything() throws(SystemError) {
        try check(cw_ring_promiscuous(&ring, interface), "setsockopt(PACKET_ADD_MEMBERSHIP)")
    }

    package mutating func start() throws(SystemError) {
        try check(cw_ring_start(&ring, interface), "bind")
    }

    /// Adds the ring to a group. The kernel distributes packets among the group's rings. Call this method after
    /// ``start()``.
    ///
    /// - Parameters:
    ///   - group: The group's number.
    ///   - way: The way in which the kernel selects a ring: 0 by flow, 1 round robin, 2 by processor. All rings in a
    ///     group must use the same value.
    package mutating func share(group: UInt16, way: UInt16) throws(SystemError) {
        try check(cw_ring_share(&ring, group, way), "setsockopt(PACKET_FANOUT)")
    }

    /// Reads the next packet. Returns `false` if there is none.
    package mutating func next(_ packet: inout RingPacket) -> Bool { cw_ring_next(&ring, &packet) == 1 }

    /// Waits until a packet is available, for at most the given time. Returns whether one is available. Blocks the
    /// calling thread.
    package mutating func wait(milliseconds: CInt) throws(SystemError) -> Bool {
        try check(cw_ring_wait(&ring, milliseconds), "poll") > 0
    }

    /// Returns two counts since the previous call: packets that passed the filter, and packets that passed it but were
    /// dropped because the ring was full.
    package mutating func statistics() -> (seen: UInt32, dropped: UInt32) {
        var (seen, dropped): (UInt32, UInt32) = (0, 0)
        _ = cw_ring_statistics(&ring, &seen, &dropped)
        return (seen, dropped)
    }
}

package import CCausewayLinux

/// A packet as the kernel gave it: the octets are valid until the next one is asked for.
package typealias RingPacket = cw_ring_packet

/// Packets of an interface as they pass, in a ring that the kernel fills (TPACKET_V3).
///
/// Confined to one thread.
package struct PacketRing: ~Copyable {
    private var ring: cw_ring
    private let interface: UInt32

    /// Opens a ring. Nothing is captured before ``start()``.
    ///
    /// - Parameters:
    ///   - interface: Its index; 0 for all, whose packets come without link headers.
    ///   - byteCount: Octets of the ring, in blocks of 256 KiB.
    ///   - retireMilliseconds: How long a packet may wait for others before its block is handed over.
    /// - Throws: ``SystemError``; `EPERM` where the process may not capture.
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

    /// Lets the kernel drop what a filter refuses.
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

    /// The next packet, if one is there.
    package mutating func next(_ packet: inout RingPacket) -> Bool { cw_ring_next(&ring, &packet) == 1 }

    /// Waits until a packet is there, at most so long. Blocks its thread.
    package mutating func wait(milliseconds: CInt) throws(SystemError) -> Bool {
        try check(cw_ring_wait(&ring, milliseconds), "poll") > 0
    }

    /// Packets that the filter let through, and how many of them found the ring full, since the last call.
    package mutating func statistics() -> (seen: UInt32, dropped: UInt32) {
        var (seen, dropped): (UInt32, UInt32) = (0, 0)
        _ = cw_ring_statistics(&ring, &seen, &dropped)
        return (seen, dropped)
    }
}

/// A datagram with what the kernel tells of it, or an error that the network reported.
package struct PacketArrival: Sendable {
    package var byteCount: Int
    package var peer: SocketAddress?
    /// Time to live, or hop limit.
    package var hops: Int?
    /// The errno of an error, 0 for a datagram. The octets are then those of what caused it.
    package var error: CInt
    package var icmpType: UInt8
    package var icmpCode: UInt8
    /// What the error tells besides: the MTU of a path.
    package var information: UInt32
    /// Who reported the error.
    package var offender: SocketAddress?
}

/// Sockets that take whole packets, and what they need to know.
package enum PacketSockets {
    /// Sends frames on an interface.
    package static func frames(interface: UInt32) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_frame_socket(interface), "socket(AF_PACKET)"))
    }

    /// Sends IP packets whose header is given.
    package static func rawIP(isIPv6: Bool) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_raw_ip_socket(isIPv6), "socket(SOCK_RAW)"))
    }

    /// Sends and receives ICMP.
    package static func icmp(isIPv6: Bool, raw: Bool) throws(SystemError) -> Descriptor {
        Descriptor(
            adopting: try check(cw_icmp_socket(isIPv6, raw), raw ? "socket(SOCK_RAW)" : "socket(SOCK_DGRAM, ICMP)"))
    }

    package static func setHopLimit(_ fd: CInt, isIPv6: Bool, _ hops: Int) throws(SystemError) {
        try check(cw_set_hop_limit(fd, isIPv6, CInt(clamping: hops)), "setsockopt(IP_TTL)")
    }

    /// The kind of an interface's link, as ARP numbers it.
    package static func hardwareType(_ name: String) throws(SystemError) -> Int {
        Int(try check(cw_hardware_type(name), "ioctl(SIOCGIFHWADDR)"))
    }

    /// Sends one packet to an address, or to where the socket leads.
    package static func send(
        _ fd: CInt, _ octets: UnsafeRawBufferPointer, to address: SocketAddress?
    ) throws(SystemError) -> Int {
        let result: Int
        if let address {
            var kernel = try address.kernelForm()
            result = cw_sendto(fd, octets.baseAddress, octets.count, &kernel)
        } else {
            result = cw_send(fd, octets.baseAddress, octets.count)
        }
        guard result >= 0 else { throw SystemError(errno: CInt(truncatingIfNeeded: -result), call: "sendto") }
        return result
    }

    /// What came in, and from whom; `nil` when nothing is there.
    package static func receive(
        _ fd: CInt, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> PacketArrival? {
        var datagram = cw_datagram()
        let result = cw_receive_datagram(fd, buffer.baseAddress, buffer.count, &datagram)
        if result == -Int(EAGAIN) { return nil }
        guard result >= 0 else { throw SystemError(errno: CInt(truncatingIfNeeded: -result), call: "recvmsg") }
        return PacketArrival(
            byteCount: result, peer: SocketAddress(&datagram.peer), hops: datagram.hops >= 0 ? Int(datagram.hops) : nil,
            error: datagram.error, icmpType: datagram.icmp_type, icmpCode: datagram.icmp_code,
            information: datagram.information, offender: SocketAddress(&datagram.offender))
    }

    /// Waits for something to read, at most so long. Blocks its thread.
    package static func wait(_ fd: CInt, milliseconds: CInt) -> Bool {
        var entry = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }
}

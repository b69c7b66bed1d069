internal import CCausewayLinux

/// A datagram with what the kernel tells of it, or an error that the network reported.
package struct PacketArrival: Sendable {
    package var byteCount: Int
    package var peer: SocketAddress?
    /// Time to live, or hop limit.
    package var hops: Int?
    /// The errno of an error, 0 for a datagram. The bytes are then those of what caused it.
    package var error: CInt
    package var icmpType: UInt8
    package var icmpCode: UInt8
    /// What the error tells besides: the MTU of a path.
    package var information: UInt32
    /// Who reported the error.
    package var offender: SocketAddress?
    /// How long it waited for being received, where the kernel knows.
    package var age: Duration?
}

/// Sockets that take whole packets, and what they need to know.
package enum PacketSockets {
    /// Sends frames on an interface.
    package static func frames(interface: UInt32) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_frame_socket(interface), "socket(AF_PACKET)"))
    }

    /// Sends frames on an interface, and receives those of ARP. Needs `CAP_NET_RAW`.
    package static func arp(interface: UInt32) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_arp_socket(interface), "socket(AF_PACKET)"))
    }

    /// Frames go to the device without waiting in a queue, where the kernel allows it: it refuses them where there is no room.
    package static func sendAtOnce(_ fd: CInt) {
        // SOL_PACKET and PACKET_QDISC_BYPASS of <linux/if_packet.h>.
        var on: CInt = 1
        setsockopt(fd, 263, 20, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Sends frames that lie behind each other, many with one call; waits where there is no room. Blocks its thread.
    ///
    /// - Returns: How many were sent: all of them.
    package static func sendFrames(
        _ fd: CInt, _ frames: UnsafeMutableRawBufferPointer, _ lengths: [Int]
    ) throws(SystemError) -> Int {
        guard let base = frames.baseAddress else { return 0 }
        var (offset, done, refusals) = (0, 0, 0)
        var pieces = lengths.map { length in
            defer { offset += length }
            return iovec(iov_base: base + offset, iov_len: length)
        }
        while done < lengths.count {
            let result = pieces.withUnsafeMutableBufferPointer { send(fd, $0, from: done) }
            if result > 0 {
                done += Int(result)
                refusals = 0
                continue
            }
            // A device that is down has no room for ever: a second is patience enough.
            guard -result == ENOBUFS || -result == EAGAIN, refusals < 1000 else {
                throw SystemError(errno: -result, call: "sendmmsg")
            }
            refusals += 1
            usleep(1000)
        }
        return done
    }

    private static func send(_ fd: CInt, _ pieces: UnsafeMutableBufferPointer<iovec>, from first: Int) -> CInt {
        let count = min(pieces.count - first, 32)
        return withUnsafeTemporaryAllocation(of: cw_outgoing.self, capacity: count) { entries in
            for place in 0..<count {
                var entry = cw_outgoing()
                entry.pieces = UnsafePointer(pieces.baseAddress.map { $0 + first + place })
                entry.piece_count = 1
                entry.traffic_class = -1
                entries.initializeElement(at: place, to: entry)
            }
            return cw_send_packets(fd, entries.baseAddress, CInt(count))
        }
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

    /// From now on the kernel tells how long what arrives has waited.
    package static func stampArrivals(_ fd: CInt) { cw_stamp_arrivals(fd) }

    package static func setHopLimit(_ fd: CInt, isIPv6: Bool, _ hops: Int) throws(SystemError) {
        try check(cw_set_hop_limit(fd, isIPv6, CInt(clamping: hops)), "setsockopt(IP_TTL)")
    }

    /// An interface's number; 0 where there is none of that name.
    package static func index(of interface: String) -> UInt32 { if_nametoindex(interface) }

    /// The kind of an interface's link, as ARP numbers it.
    package static func hardwareType(_ name: String) throws(SystemError) -> Int {
        Int(try check(cw_hardware_type(name), "ioctl(SIOCGIFHWADDR)"))
    }

    /// Sends one packet to an address, or to where the socket leads.
    package static func send(
        _ fd: CInt, _ bytes: UnsafeRawBufferPointer, to address: SocketAddress?
    ) throws(SystemError) -> Int {
        let result: Int
        if let address {
            var kernel = try address.kernelForm()
            result = cw_sendto(fd, bytes.baseAddress, bytes.count, &kernel)
        } else {
            result = cw_send(fd, bytes.baseAddress, bytes.count)
        }
        guard result >= 0 else { throw SystemError(errno: CInt(truncatingIfNeeded: -result), call: "sendto") }
        return result
    }

    /// What came in, and from whom; `nil` when nothing is there.
    package static func receive(
        _ fd: CInt, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> PacketArrival? {
        var datagram = cw_datagram()
        return try arrival(cw_receive_datagram(fd, buffer.baseAddress, buffer.count, &datagram), &datagram)
    }

    /// Of what came in either the next datagram or the next error; `nil` when there is none.
    package static func receive(
        _ fd: CInt, errors: Bool, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> PacketArrival? {
        var datagram = cw_datagram()
        return try arrival(cw_receive_one(fd, buffer.baseAddress, buffer.count, &datagram, errors), &datagram)
    }

    private static func arrival(
        _ result: Int, _ datagram: inout cw_datagram
    ) throws(SystemError) -> PacketArrival? {
        if result == -Int(EAGAIN) { return nil }
        guard result >= 0 else { throw SystemError(errno: CInt(truncatingIfNeeded: -result), call: "recvmsg") }
        return PacketArrival(
            byteCount: result, peer: SocketAddress(&datagram.peer), hops: datagram.hops >= 0 ? Int(datagram.hops) : nil,
            error: datagram.error, icmpType: datagram.icmp_type, icmpCode: datagram.icmp_code,
            information: datagram.information, offender: SocketAddress(&datagram.offender),
            age: datagram.age >= 0 ? .nanoseconds(datagram.age) : nil)
    }

    /// Sends TCP segments whose IP headers the kernel makes, and receives what comes for some ports. Needs `CAP_NET_RAW`.
    package static func rawTCP(isIPv6: Bool, firstPort: UInt16, portCount: UInt16) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_raw_tcp_socket(isIPv6, firstPort, portCount), "socket(SOCK_RAW)"))
    }

    /// From now on what routers and hosts report about datagrams of this socket waits beside what it receives.
    package static func reportErrors(_ fd: CInt, isIPv6: Bool) throws(SystemError) {
        try check(cw_report_errors(fd, isIPv6), "setsockopt(IP_RECVERR)")
    }

    /// Makes room for so many bytes, or as many as this process may have.
    package static func setReceiveRoom(_ fd: CInt, byteCount: Int) {
        cw_set_receive_room(fd, CInt(clamping: byteCount))
    }

    /// Whether packets may be cut up on their way where they are too long for a link.
    package static func setFragmentation(_ fd: CInt, isIPv6: Bool, isAllowed: Bool) throws(SystemError) {
        try check(cw_set_unfragmented(fd, isIPv6, !isAllowed), "setsockopt(IP_MTU_DISCOVER)")
    }

    /// Waits for any of some sockets, at most so long. What each of them has: datagrams, errors. Blocks its thread.
    package static func wait(_ sockets: [CInt], milliseconds: CInt) -> [(datagrams: Bool, errors: Bool)] {
        var entries = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else {
            return sockets.map { _ in (false, false) }
        }
        return entries.map { ($0.revents & Int16(POLLIN) != 0, $0.revents & Int16(POLLERR) != 0) }
    }

    /// Waits until any of some connections is there or has failed, at most so long. Which of them are. Blocks its thread.
    package static func waitForConnections(_ sockets: [CInt], milliseconds: CInt) -> [Bool] {
        var entries = sockets.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return sockets.map { _ in false } }
        return entries.map { $0.revents != 0 }
    }

    /// Waits for something to read, at most so long. Blocks its thread.
    package static func wait(_ fd: CInt, milliseconds: CInt) -> Bool {
        var entry = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }
}

internal import CCausewayLinux

/// A received datagram with its metadata, or an error from the socket's error queue.
package struct PacketArrival: Sendable {
    package var byteCount: Int
    package var peer: SocketAddress?
    /// The TTL (hop limit).
    package var hops: Int?
    /// The errno of the error; 0 for a datagram. If there is an error, the received bytes are from the packet that
    /// caused it.
    package var error: CInt
    package var icmpType: UInt8
    package var icmpCode: UInt8
    /// The error's additional data: for a packet that was too large, the path MTU.
    package var information: UInt32
    /// The host that reported the error.
    package var offender: SocketAddress?
    /// Time between the packet's arrival and the receive call; `nil` if the kernel did not report it.
    package var age: Duration?
}

/// Opens sockets for Ethernet frames, IP packets, ICMP and TCP segments, and sends and receives on them.
package enum PacketSockets {
    /// Opens a socket that sends frames on an interface.
    package static func frames(interface: UInt32) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_frame_socket(interface), "socket(AF_PACKET)"))
    }

    /// Opens a socket that sends frames on an interface and receives ARP frames. Needs `CAP_NET_RAW`.
    package static func arp(interface: UInt32) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_arp_socket(interface), "socket(AF_PACKET)"))
    }

    /// Makes the socket's frames bypass the interface's queue, if the kernel supports this. A send then fails if the
    /// device cannot take a frame at once.
    package static func sendAtOnce(_ fd: CInt) {
        // 263 is SOL_PACKET, and 20 is PACKET_QDISC_BYPASS from <linux/if_packet.h>.
        var on: CInt = 1
        setsockopt(fd, 263, 20, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Sends consecutive frames. One system call can send several frames. Blocks the thread while the device's queue is
    /// full.
    ///
    /// - Parameter sent: Increased by the number of accepted frames, even if an error is thrown. The first frame that
    ///   was not accepted caused the error.
    /// - Throws: ``SystemError`` if a frame is rejected, or if the device's queue is full for one second.
    package static func sendFrames(
        _ fd: CInt, _ frames: UnsafeMutableRawBufferPointer, _ lengths: [Int], sent: inout Int
    ) throws(SystemError) {
        guard let base = frames.baseAddress else { return }
        var (offset, done, refusals) = (0, 0, 0)
        var pieces = lengths.map { length in
            defer { offset += length }
            return iovec(iov_base: base + offset, iov_len: length)
        }
        while done < lengths.count {
            let result = pieces.withUnsafeMutableBufferPointer { send(fd, $0, from: done) }
            if result > 0 {
                done += Int(result)
                sent += Int(result)
                refusals = 0
                continue
            }
            // A device that is down accepts no frames, so give up after one second.
            guard -result == ENOBUFS || -result == EAGAIN, refusals < 1000 else {
                throw SystemError(errno: -result, call: "sendmmsg")
            }
            refusals += 1
            usleep(1000)
        }
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

    /// Opens a raw socket that sends IP packets. The caller supplies the IP header.
    package static func rawIP(isIPv6: Bool) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_raw_ip_socket(isIPv6), "socket(SOCK_RAW)"))
    }

    /// Opens a socket that sends and receives ICMP.
    package static func icmp(isIPv6: Bool, raw: Bool) throws(SystemError) -> Descriptor {
        Descriptor(
            adopting: try check(cw_icmp_socket(isIPv6, raw), raw ? "socket(SOCK_RAW)" : "socket(SOCK_DGRAM, ICMP)"))
    }

    /// Enables arrival timestamps, which ``PacketArrival/age`` needs.
    package static func stampArrivals(_ fd: CInt) { cw_stamp_arrivals(fd) }

    package static func setHopLimit(_ fd: CInt, isIPv6: Bool, _ hops: Int) throws(SystemError) {
        try check(cw_set_hop_limit(fd, isIPv6, CInt(clamping: hops)), "setsockopt(IP_TTL)")
    }

    /// Returns an interface's index; 0 if no interface has that name.
    package static func index(of interface: String) -> UInt32 { if_nametoindex(interface) }

    /// Returns the ARP hardware type of an interface's link.
    package static func hardwareType(_ name: String) throws(SystemError) -> Int {
        Int(try check(cw_hardware_type(name), "ioctl(SIOCGIFHWADDR)"))
    }

    /// Sends one packet to an address, or to the socket's connected peer.
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

    /// Receives a datagram or an error; `nil` if neither is available.
    package static func receive(
        _ fd: CInt, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> PacketArrival? {
        var datagram = cw_datagram()
        return try arrival(cw_receive_datagram(fd, buffer.baseAddress, buffer.count, &datagram), &datagram)
    }

    /// Receives the next datagram, or the next error if `errors` is `true`; `nil` if there is none.
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

    /// Opens a raw socket for TCP segments. The kernel adds the IP headers to sent segments. The socket receives the
    /// segments to a range of ports. Needs `CAP_NET_RAW`.
    package static func rawTCP(isIPv6: Bool, firstPort: UInt16, portCount: UInt16) throws(SystemError) -> Descriptor {
        Descriptor(adopting: try check(cw_raw_tcp_socket(isIPv6, firstPort, portCount), "socket(SOCK_RAW)"))
    }

    /// Enables the socket's error queue. The kernel then puts ICMP errors about the socket's packets into this queue.
    package static func reportErrors(_ fd: CInt, isIPv6: Bool) throws(SystemError) {
        try check(cw_report_errors(fd, isIPv6), "setsockopt(IP_RECVERR)")
    }

    /// Sets the receive buffer to `byteCount` bytes, or to the maximum that this process may request if `byteCount` is
    /// larger.
    package static func setReceiveRoom(_ fd: CInt, byteCount: Int) {
        cw_set_receive_room(fd, CInt(clamping: byteCount))
    }

    /// Sets whether packets may be fragmented. If not, packets have the Don't Fragment bit.
    package static func setFragmentation(_ fd: CInt, isIPv6: Bool, isAllowed: Bool) throws(SystemError) {
        try check(cw_set_unfragmented(fd, isIPv6, !isAllowed), "setsockopt(IP_MTU_DISCOVER)")
    }

    /// Waits until one of several sockets has a datagram or an error, at most for the given time. Blocks the calling
    /// thread.
    ///
    /// Returns two flags for each socket: whether it has datagrams, and whether it has errors.
    package static func wait(_ sockets: [CInt], milliseconds: CInt) -> [(datagrams: Bool, errors: Bool)] {
        var entries = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else {
            return sockets.map { _ in (false, false) }
        }
        return entries.map { ($0.revents & Int16(POLLIN) != 0, $0.revents & Int16(POLLERR) != 0) }
    }

    /// Waits until at least one of several connections is established or has failed, but no longer than the given time.
    /// Returns for each socket whether this is so. Blocks the calling thread.
    package static func waitForConnections(_ sockets: [CInt], milliseconds: CInt) -> [Bool] {
        var entries = sockets.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return sockets.map { _ in false } }
        return entries.map { $0.revents != 0 }
    }

    /// Waits until the socket is readable, for at most the given time. Blocks the calling thread.
    package static func wait(_ fd: CInt, milliseconds: CInt) -> Bool {
        var entry = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }
}

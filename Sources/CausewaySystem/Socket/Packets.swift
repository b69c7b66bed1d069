package import CCausewayLinux

/// What of a datagram's header reaches the program.
package struct PacketMark: Equatable, Sendable {
    /// DSCP and ECN in one byte (RFC 2474 §3, RFC 3168 §5); `nil` when unknown.
    package var trafficClass: UInt8?
    /// Nanoseconds of the raw monotonic clock; 0 unless asked for.
    package var timeNanoseconds: UInt64 = 0

    package init() {}
}

/// What the kernel says about a datagram besides its bytes.
package struct PacketInfo: Equatable, Sendable {
    package var mark = PacketMark()
    /// The local address that the datagram came to, and by which interface.
    package var local: SocketAddress?
    package var interfaceIndex: UInt32 = 0
    /// Where its header said that it goes: the local address, a group, or a broadcast address.
    package var destination: SocketAddress?

    package init() {}
}

/// One received datagram, or a train of datagrams of one peer that the kernel coalesced.
package struct ReceivedPacket: Sendable {
    package var byteCount: Int
    /// Bytes of every datagram of the train but the last; equals ``byteCount`` for a single datagram.
    package var segmentByteCount: Int
    package var peer: SocketAddress?
    package var info: PacketInfo
    package var isTruncated: Bool

    package var datagramCount: Int {
        byteCount == 0 ? 1 : (byteCount + segmentByteCount - 1) / segmentByteCount
    }
}

/// Blocks into which datagrams are received in batches. Made for one turn of reading; not shared between threads.
package struct PacketReader: ~Copyable, Sendable {
    /// The largest train the kernel makes.
    package static let blockByteCount = 65_536
    /// The most packets that one call receives.
    package static let packetLimit = 16

    // SAFETY: owned by this value alone, which is noncopyable; its methods need exclusive access. `PacketsTests` covers them.
    nonisolated(unsafe) private let packets: UnsafeMutableBufferPointer<cw_packet>

    package init(blockCount: Int) {
        packets = .allocate(capacity: min(max(blockCount, 1), Self.packetLimit))
        packets.initialize(repeating: cw_packet())
    }

    /// Receives what is there, at most one packet per block. Zero packets mean that the call would block.
    package mutating func receive(_ fd: CInt, wantsPeer: Bool) throws(SystemError) -> Int {
        for index in packets.indices {
            if packets[index].buffer == nil {
                packets[index].buffer = PacketBlocks.take().map { $0 + PacketBlocks.offset(of: index) }
            }
            guard packets[index].buffer != nil else { throw SystemError(errno: ENOMEM, call: "malloc") }
            packets[index].length = Self.blockByteCount
        }
        let result = cw_receive_packets(fd, packets.baseAddress, CInt(packets.count), wantsPeer)
        if result == -EAGAIN { return 0 }
        return Int(try check(result, "recvmmsg"))
    }

    package subscript(index: Int) -> ReceivedPacket {
        let packet = packets[index]
        let shape = shape(of: index)
        return ReceivedPacket(
            byteCount: shape.byteCount, segmentByteCount: shape.segmentByteCount, peer: peer(of: index),
            info: info(of: index), isTruncated: packet.truncated)
    }

    /// How long a packet is, and each of its datagrams but the last.
    package func shape(of index: Int) -> (byteCount: Int, segmentByteCount: Int) {
        let (length, segment) = (packets[index].length, Int(packets[index].segment))
        return (length, segment == 0 ? length : segment)
    }

    package func mark(of index: Int) -> PacketMark {
        var mark = PacketMark()
        mark.trafficClass = UInt8(exactly: packets[index].traffic_class)
        mark.timeNanoseconds = packets[index].time_ns
        return mark
    }

    package func peer(of index: Int) -> SocketAddress? {
        guard let first = packets.baseAddress, let peer = cw_packet_peer(first + index) else { return nil }
        return SocketAddress(pointer: peer)
    }

    /// Whether two packets came from one peer, which is quicker to say than which.
    package func haveSamePeer(_ first: Int, _ second: Int) -> Bool {
        guard let start = packets.baseAddress else { return false }
        return cw_packet_has_peer_of(start + first, start + second)
    }

    package func info(of index: Int) -> PacketInfo {
        let packet = packets[index]
        var info = PacketInfo()
        info.mark = mark(of: index)
        info.interfaceIndex = packet.local_interface
        switch UInt32(packet.local_family) {
        case CW_IPV4.rawValue:
            info.local = .ipv4(bits: UInt32(truncatingIfNeeded: packet.local_low), port: 0)
            info.destination = .ipv4(bits: packet.destination_v4, port: 0)
        case CW_IPV6.rawValue:
            info.local = .ipv6(high: packet.local_high, low: packet.local_low, port: 0, scope: packet.local_interface)
            info.destination = info.local
        default: break
        }
        return info
    }

    /// The bytes of a packet, until the next receive.
    package func withBytes<R>(of index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(start: packets[index].buffer, count: packets[index].length))
    }

    /// Puts the bytes of the packets of a range, which fit into one block, one behind the other into the block of the first.
    package mutating func join(_ range: Range<Int>) {
        guard let first = range.first, let block = packets[first].buffer else { return }
        for index in range.dropFirst() {
            let count = packets[index].length
            guard let bytes = packets[index].buffer, packets[first].length + count <= Self.blockByteCount else {
                return
            }
            let length = packets[first].length
            memcpy(block + length, bytes, count)
            packets[first].length = length + count
        }
    }

    /// Takes a packet's bytes away; give them back with ``giveBack(_:of:)``. The reader gets another block.
    package mutating func takeBlock(of index: Int) -> UnsafeMutableRawPointer {
        defer { packets[index].buffer = nil }
        return packets[index].buffer
    }

    /// Returns the bytes taken for the packet at an index. On any thread.
    package static func giveBack(_ bytes: UnsafeMutableRawPointer, of index: Int) {
        PacketBlocks.giveBack(bytes - PacketBlocks.offset(of: index))
    }

    deinit {
        for index in packets.indices {
            if let bytes = packets[index].buffer { Self.giveBack(bytes, of: index) }
        }
        packets.deallocate()
    }
}

/// A datagram, or a train of equal datagrams, on its way to the kernel.
package struct OutgoingPacket {
    /// Valid for the duration of the send only.
    package var pieces: UnsafeBufferPointer<iovec>
    /// Bytes of every datagram of the train but the last; 0 for a single datagram.
    package var segmentByteCount: Int
    package var trafficClass: UInt8?

    package init(pieces: UnsafeBufferPointer<iovec>, segmentByteCount: Int, trafficClass: UInt8?) {
        self.pieces = pieces
        self.segmentByteCount = segmentByteCount
        self.trafficClass = trafficClass
    }
}

extension Socket {
    /// The most packets that one call takes.
    package static let packetLimit = 32
    /// The most datagrams in one train, and its most bytes (what one IP packet could carry).
    package static let trainDatagramLimit = 64
    package static let trainByteLimit = 65_000

    /// Sends packets to one peer: the connected one when `peer` is `nil`. Returns how many were taken.
    ///
    /// - Parameters:
    ///   - local: The source address; `nil` for the kernel's choice.
    ///   - interface: The index of the interface to leave by; 0 for the kernel's choice.
    package static func send(
        _ fd: CInt, _ packets: UnsafeBufferPointer<OutgoingPacket>, to peer: SocketAddress?, from local: SocketAddress?,
        over interface: UInt32 = 0
    ) -> IOResult {
        var kernelPeer = cw_address()
        if let peer {
            guard let kernel = try? peer.kernelForm() else { return .failed(EINVAL) }
            kernelPeer = kernel
        }
        let count = min(packets.count, packetLimit)
        return withUnsafePointer(to: &kernelPeer) { peerPointer in
            withUnsafeTemporaryAllocation(of: cw_outgoing.self, capacity: count) { entries in
                for index in 0..<count {
                    var entry = cw_outgoing()
                    entry.pieces = packets[index].pieces.baseAddress
                    entry.piece_count = CInt(packets[index].pieces.count)
                    entry.segment = UInt16(clamping: packets[index].segmentByteCount)
                    entry.traffic_class = packets[index].trafficClass.map(Int16.init) ?? -1
                    entry.peer = peer == nil ? nil : peerPointer
                    entry.setSource(local)
                    if interface != 0, let peer { entry.setInterface(interface, toward: peer) }
                    entries.initializeElement(at: index, to: entry)
                }
                return IOResult(Int(cw_send_packets(fd, entries.baseAddress, CInt(count))))
            }
        }
    }
}

extension cw_outgoing {
    fileprivate mutating func setInterface(_ index: UInt32, toward peer: SocketAddress) {
        switch peer.family {
        case .ipv4: local_family = UInt8(CW_IPV4.rawValue)
        case .ipv6: local_family = UInt8(CW_IPV6.rawValue)
        case .unix: return
        }
        local_interface = index
    }

    fileprivate mutating func setSource(_ local: SocketAddress?) {
        switch local {
        case .ipv4(let bits, _):
            local_family = UInt8(CW_IPV4.rawValue)
            local_low = UInt64(bits)
        case .ipv6(let high, let low, _, let scope):
            local_family = UInt8(CW_IPV6.rawValue)
            (local_high, local_low, local_interface) = (high, low, scope)
        case .unix, nil:
            local_family = 0
        }
    }
}

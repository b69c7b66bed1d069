package import CCausewayLinux

/// A datagram's IP header fields that programs can read.
package struct PacketMark: Equatable, Sendable {
    /// DSCP and ECN in one byte (RFC 2474 §3, RFC 3168 §5); `nil` when unknown.
    package var trafficClass: UInt8?
    /// The arrival time in nanoseconds on the raw monotonic clock; 0 unless arrival times were requested.
    package var timeNanoseconds: UInt64 = 0

    package init() {}
}

/// Data about a received datagram that the kernel delivers in addition to its content.
package struct PacketInfo: Equatable, Sendable {
    package var mark = PacketMark()
    /// The local address and interface that received the datagram.
    package var local: SocketAddress?
    package var interfaceIndex: UInt32 = 0
    /// The destination in the IP header: the local address, a group, or a broadcast address.
    package var destination: SocketAddress?

    package init() {}
}

/// One received datagram, or a train of several datagrams from one peer that the kernel coalesced (UDP_GRO).
package struct ReceivedPacket: Sendable {
    package var byteCount: Int
    /// Bytes in each coalesced datagram except the final datagram, which can be shorter. Equals ``byteCount`` for a
    /// single datagram.
    package var segmentByteCount: Int
    package var peer: SocketAddress?
    package var info: PacketInfo
    package var isTruncated: Bool

    package var datagramCount: Int {
        byteCount == 0 ? 1 : (byteCount + segmentByteCount - 1) / segmentByteCount
    }
}

/// Receives several packets per system call, each in its own memory block. A packet is one datagram, or several
/// datagrams that the kernel coalesced. Create a reader for one series of receive calls. It is not shared between
/// threads.
package struct PacketReader: ~Copyable, Sendable {
    /// The maximum total size in bytes of the datagrams in one packet.
    package static let blockByteCount = 65_536
    /// The maximum number of datagrams in one packet: the kernel's limit for UDP_SEGMENT and UDP_GRO.
    package static let trainDatagramLimit = 128
    /// The maximum number of packets per receive call.
    package static let packetLimit = 16

    // SAFETY: owned by this noncopyable value only; its methods need exclusive access. `PacketsTests` covers them.
    nonisolated(unsafe) private let packets: UnsafeMutableBufferPointer<cw_packet>

    package init(blockCount: Int) {
        packets = .allocate(capacity: min(max(blockCount, 1), Self.packetLimit))
        packets.initialize(repeating: cw_packet())
    }

    /// Receives pending packets, each into a memory block. At most as many packets are received as the reader has
    /// blocks. Returns the number of packets; 0 if the call would block.
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

    /// Returns a packet's size, and the size of each coalesced datagram except the final datagram, in bytes.
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

    /// Returns whether two packets have the same sender. This is faster than reading both addresses and comparing them.
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

    /// Calls `body` with a packet's bytes, which are valid until the next receive call.
    package func withBytes<R>(of index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(start: packets[index].buffer, count: packets[index].length))
    }

    /// Copies the bytes of several packets, in order, into the first packet's block. All bytes must fit into one block.
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

    /// Hands a packet's bytes over to the caller. The reader uses a new memory block for its next receive call.
    package mutating func takeBlock(of index: Int) -> PacketBlock {
        let block = PacketBlock(packets[index].buffer, index)
        packets[index].buffer = nil
        return block
    }

    deinit {
        for index in packets.indices {
            if let bytes = packets[index].buffer { PacketBlocks.giveBack(bytes - PacketBlocks.offset(of: index)) }
        }
        packets.deallocate()
    }
}

/// The bytes of a received packet. The memory block returns to its pool when all references are released. If several
/// objects share a block, each uses a different part of it.
package final class PacketBlock: Sendable {
    private let address: UInt
    private let index: Int

    fileprivate init(_ bytes: UnsafeMutableRawPointer, _ index: Int) {
        address = UInt(bitPattern: bytes)
        self.index = index
    }

    /// The first byte's address.
    package var bytes: UnsafeMutableRawPointer { UnsafeMutableRawPointer(bitPattern: address)! }

    deinit { PacketBlocks.giveBack(bytes - PacketBlocks.offset(of: index)) }
}

/// One datagram to send, or a train of datagrams of equal length that the kernel splits (UDP_SEGMENT).
package struct OutgoingPacket {
    /// The datagrams' bytes. They need to stay valid only during the send call.
    package var pieces: UnsafeBufferPointer<iovec>
    /// Bytes in each datagram except the final datagram, which can be shorter; 0 for a single datagram.
    package var segmentByteCount: Int
    package var trafficClass: UInt8?

    package init(pieces: UnsafeBufferPointer<iovec>, segmentByteCount: Int, trafficClass: UInt8?) {
        self.pieces = pieces
        self.segmentByteCount = segmentByteCount
        self.trafficClass = trafficClass
    }
}

extension Socket {
    /// The maximum number of packets per send call.
    package static let packetLimit = 32
    /// The limits for a train. A train is a series of datagrams that the kernel takes as one packet.
    ///
    /// The first constant limits the number of datagrams. The second constant limits their total size in bytes, which
    /// must fit in one IP packet.
    package static let trainDatagramLimit = 64
    package static let trainByteLimit = 65_000

    /// Sends packets to one peer. Returns the number of sent packets.
    ///
    /// - Parameters:
    ///   - fd: The datagram socket.
    ///   - packets: The packets; at most ``packetLimit`` are sent.
    ///   - peer: The peer; `nil` for the connected peer.
    ///   - local: The source address; `nil` for the kernel's choice.
    ///   - interface: The outgoing interface's index; 0 for the kernel's choice.
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

internal import CCausewayLinux

/// Packets of one size on their way to some of many peers: collected, and sent with few calls.
package struct PacketBatch: Sendable {
    private let byteCount: Int
    private let peers: [cw_address]
    private var bytes: [UInt8] = []
    /// For each packet the place of its peer.
    private var places: [UInt32] = []

    /// - Parameter byteCount: Bytes of each packet.
    package init(to peers: [SocketAddress], byteCount: Int) {
        precondition(byteCount > 0)
        self.byteCount = byteCount
        // A path is no peer of packets: the kernel refuses the empty address in its place.
        self.peers = peers.map { (try? $0.kernelForm()) ?? cw_address() }
    }

    package var count: Int { places.count }

    /// Collects a packet, whose bytes `write` appends.
    ///
    /// - Parameter peer: The peer's place in the list.
    package mutating func add(to peer: Int, _ write: (inout [UInt8]) -> Void) {
        precondition(peers.indices.contains(peer), "a packet to nobody")
        write(&bytes)
        places.append(UInt32(peer))
        precondition(bytes.count == places.count * byteCount, "a packet of another size")
    }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// Sends what was collected, from one packet on: as many as one call takes.
    ///
    /// - Returns: How many the kernel took: at least one, unless there are none.
    /// - Throws: Why it did not take the first of them.
    package func send(_ fd: CInt, from first: Int) throws(SystemError) -> Int {
        guard first < count else { return 0 }
        let result = bytes.withUnsafeBytes { bytes in
            places.withUnsafeBufferPointer { which in
                cw_send_to_peers(
                    fd, bytes.baseAddress.map { $0 + first * byteCount }, byteCount, peers,
                    which.baseAddress.map { $0 + first }, CInt(min(count - first, 64)))
            }
        }
        return Int(try check(result, "sendmmsg"))
    }
}

/// Takes datagrams that have come, many with one call. Keeps the memory for them.
package struct PacketIntake: Sendable {
    /// What one call takes at most.
    package static let maximum = 64
    private let byteCount: Int
    private var bytes: [UInt8]
    private var peers: [cw_address]
    private var lengths: [UInt32]

    /// - Parameter byteCount: Bytes that are wanted of each datagram; what is longer is cut off.
    package init(byteCount: Int) {
        self.byteCount = byteCount
        bytes = Array(repeating: 0, count: byteCount * Self.maximum)
        peers = Array(repeating: cw_address(), count: Self.maximum)
        lengths = Array(repeating: 0, count: Self.maximum)
    }

    /// Hands over what has come: bytes and sender of each datagram.
    ///
    /// - Returns: How many there were.
    /// - Throws: ``SystemError``, `EAGAIN` where there was nothing.
    package mutating func take(
        _ fd: CInt, _ body: (Span<UInt8>, SocketAddress?) -> Void
    ) throws(SystemError) -> Int {
        let size = byteCount
        let count = Int(try check(cw_receive_many(fd, &bytes, size, &peers, &lengths, CInt(Self.maximum)), "recvmmsg"))
        let all = bytes.span
        for place in 0..<count {
            let start = place * size
            var peer = peers[place]
            body(all.extracting(start..<start + min(Int(lengths[place]), size)), SocketAddress(&peer))
        }
        return count
    }
}

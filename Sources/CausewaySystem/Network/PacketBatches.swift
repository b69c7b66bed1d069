internal import CCausewayLinux

/// Collects packets of one size to several peers, and sends them with few system calls.
package struct PacketBatch: Sendable {
    private let byteCount: Int
    private let peers: [cw_address]
    private var bytes: [UInt8] = []
    /// The index of the peer of each packet.
    private var places: [UInt32] = []

    /// - Parameter byteCount: The size of each packet, in bytes.
    package init(to peers: [SocketAddress], byteCount: Int) {
        precondition(byteCount > 0)
        self.byteCount = byteCount
        // A Unix-domain path becomes an empty address, which the kernel rejects.
        self.peers = peers.map { (try? $0.kernelForm()) ?? cw_address() }
    }

    package var count: Int { places.count }

    /// Adds a packet. `write` appends its bytes.
    ///
    /// - Parameter peer: The index of the peer in the list.
    package mutating func add(to peer: Int, _ write: (inout [UInt8]) -> Void) {
        precondition(peers.indices.contains(peer), "the index of the peer is out of range")
        write(&bytes)
        places.append(UInt32(peer))
        precondition(bytes.count == places.count * byteCount, "the packet has the wrong size")
    }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// Sends the packets from index `first` on, as many as one system call accepts.
    ///
    /// - Returns: The number of packets that were sent; 0 only if there is no packet from `first` on.
    /// - Throws: The error of the first packet.
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

/// Receives several datagrams with one system call. The buffers are reused for each call.
package struct PacketIntake: Sendable {
    /// Maximum number of datagrams of one call.
    package static let maximum = 64
    private let byteCount: Int
    private var bytes: [UInt8]
    private var peers: [cw_address]
    private var lengths: [UInt32]

    /// - Parameter byteCount: Maximum bytes to keep of each datagram; longer ones are truncated.
    package init(byteCount: Int) {
        self.byteCount = byteCount
        bytes = Array(repeating: 0, count: byteCount * Self.maximum)
        peers = Array(repeating: cw_address(), count: Self.maximum)
        lengths = Array(repeating: 0, count: Self.maximum)
    }

    /// Calls `body` with the bytes and the sender of each pending datagram.
    ///
    /// - Returns: The number of datagrams.
    /// - Throws: ``SystemError`` with `EAGAIN` if there are none.
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

internal import CCausewayLinux

/// Collects packets of equal size for several peers, and sends the packets with few system calls.
package struct PacketBatch: Sendable {
    private let byteCount: Int
    private let peers: [cw_address]
    private var bytes: [UInt8] = []
    /// For each packet, the index of its destination in `peers`.
    private var places: [UInt32] = []

    /// Creates an empty batch.
    ///
    /// - Parameters:
    ///   - peers: The destinations from which each packet selects one. A Unix-domain path becomes an empty address,
    ///     which the kernel rejects.
    ///   - byteCount: The size of each packet, in bytes.
    package init(to peers: [SocketAddress], byteCount: Int) {
        precondition(byteCount > 0)
        self.byteCount = byteCount
        // If an address is a Unix domain path that is too long, use an empty address. The kernel rejects it.
        self.peers = peers.map { (try? $0.kernelForm()) ?? cw_address() }
    }

    package var count: Int { places.count }

    /// Adds a packet.
    ///
    /// - Parameters:
    ///   - peer: The peer's index in the list of peers.
    ///   - write: Appends the packet's bytes. It must append exactly the batch's packet size.
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

    /// Sends packets starting at index `first`, as many as one system call accepts.
    ///
    /// - Parameters:
    ///   - fd: The socket.
    ///   - first: The index of the first packet to send.
    /// - Returns: The number of sent packets; 0 only if there is no packet at `first`.
    /// - Throws: The error for the packet at `first`.
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
    /// The maximum number of datagrams that one call receives.
    package static let maximum = 64
    private let byteCount: Int
    private var bytes: [UInt8]
    private var peers: [cw_address]
    private var lengths: [UInt32]

    /// - Parameter byteCount: The maximum number of bytes to keep from each datagram; longer datagrams are truncated.
    package init(byteCount: Int) {
        self.byteCount = byteCount
        bytes = Array(repeating: 0, count: byteCount * Self.maximum)
        peers = Array(repeating: cw_address(), count: Self.maximum)
        lengths = Array(repeating: 0, count: Self.maximum)
    }

    /// Calls `body` with each pending datagram's bytes and sender.
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

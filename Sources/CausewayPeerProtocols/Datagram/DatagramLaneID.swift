/// Identifies a datagram lane in this process, from its first attempt to its end. Numbers are not reused.
package struct DatagramLaneID: Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(_ rawValue: Int) { self.rawValue = rawValue }
    package static func < (left: DatagramLaneID, right: DatagramLaneID) -> Bool { left.rawValue < right.rawValue }
}

/// A datagram lane's pre-shared key and PSK identity (RFC 4279 §5.1).
package struct DatagramSecret: Equatable, Sendable {
    /// The token in hexadecimal digits, because a PSK identity is text without zero bytes.
    package let identity: [UInt8]
    /// 32 bytes that only the two ends of the member's first control link can derive.
    package let key: [UInt8]

    /// - Parameters:
    ///   - exporter: The TLS exporter value from the member's first control link.
    ///   - token: 16 random bytes for this datagram lane, so that each lane has a different key.
    package init(exporter: [UInt8], token: [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        identity = token.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        key = PeerDigest.hmac(key: exporter, Array("cw-peers/1 datagrams".utf8) + token)
    }
}

/// A member's datagram lane changed its state.
package enum DatagramLaneState: Equatable, Sendable {
    /// Unreliable messages that fit into a datagram now use the datagram lane.
    case ready
    /// A handshake with the wrong key or token was refused. The datagram lane is not affected. Only a member's first
    /// refusal is reported, but each one is counted.
    case refused(PeerReason)
    /// Unreliable messages use the control link. A new datagram lane is tried later.
    case down(PeerReason)
}

/// A member's datagram lane counters, for diagnosis and tests.
package struct DatagramLaneReport: Equatable, Sendable {
    package var isReady = false
    /// Messages sent and received on all datagram lanes of this member so far.
    package var sentCount = 0
    package var receivedCount = 0
    /// Refused handshakes.
    package var refusedCount = 0
    /// Maximum message size on the datagram lane in bytes; 0 if there is no lane.
    package var messageLimit = 0
}

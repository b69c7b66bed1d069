/// A datagram lane of this process, from its first attempt to its end. A number is not used again.
package struct DatagramLaneID: Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(_ rawValue: Int) { self.rawValue = rawValue }
    package static func < (left: DatagramLaneID, right: DatagramLaneID) -> Bool { left.rawValue < right.rawValue }
}

/// The pre-shared key of one lane and its identity (RFC 4279 §5.1).
package struct DatagramSecret: Equatable, Sendable {
    /// The token in hexadecimal digits: an identity is text and has no zero byte.
    package let identity: [UInt8]
    /// 32 bytes that only the two ends of the member's first control link can compute.
    package let key: [UInt8]

    /// - Parameters:
    ///   - exporter: The keying material of the member's first control link.
    ///   - token: 16 random bytes of this lane, so that each lane has a different key.
    package init(exporter: [UInt8], token: [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        identity = token.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        key = PeerDigest.hmac(key: exporter, Array("cw-peers/1 datagrams".utf8) + token)
    }
}

/// What happened to the datagram lane of a member.
package enum DatagramLaneState: Equatable, Sendable {
    /// Unreliable messages that fit into a datagram now travel on the lane.
    case ready
    /// A handshake with the wrong key or token was refused. The lane is not affected. Reported once per member, counted always.
    case refused(PeerReason)
    /// Unreliable messages travel on the control link. Another lane is tried later.
    case down(PeerReason)
}

/// The datagram lane of a member in numbers, for diagnosis and tests.
package struct DatagramLaneReport: Equatable, Sendable {
    package var isReady = false
    /// Messages on all lanes of the member so far.
    package var sentCount = 0
    package var receivedCount = 0
    /// Handshakes that were refused.
    package var refusedCount = 0
    /// The maximum size of a message on the lane in bytes; 0 without a lane.
    package var messageLimit = 0
}

/// Identifies a datagram lane in this process. A datagram lane is a member's DTLS connection for unreliable messages.
/// The number is valid from the first attempt to open the connection until its end. It is not reused.
package struct DatagramLaneID: Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(_ rawValue: Int) { self.rawValue = rawValue }
    package static func < (left: DatagramLaneID, right: DatagramLaneID) -> Bool { left.rawValue < right.rawValue }
}

/// The pre-shared key and the PSK identity of a DTLS connection for unreliable messages (RFC 4279 §5.1).
package struct DatagramSecret: Equatable, Sendable {
    /// The token as text in hexadecimal digits. A PSK identity must be text without zero bytes.
    package let identity: [UInt8]
    /// A 32-byte key. It is derived from the first control link between this peer and the member. Only these two peers
    /// can derive it.
    package let key: [UInt8]

    /// - Parameters:
    ///   - exporter: The TLS exporter value from the member's first control link.
    ///   - token: 16 random bytes for this DTLS connection, so that each connection has a different key.
    package init(exporter: [UInt8], token: [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        identity = token.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        key = PeerDigest.hmac(key: exporter, Array("cw-peers/1 datagrams".utf8) + token)
    }
}

/// A state change of a member's datagram lane, the DTLS connection for unreliable messages.
package enum DatagramLaneState: Equatable, Sendable {
    /// The DTLS connection is ready. It now carries all unreliable messages that fit into a datagram.
    case ready
    /// A DTLS handshake with the wrong key or token was refused. This does not affect the member's own connection. Only
    /// a member's first refusal is reported, but all refusals are counted.
    case refused(PeerReason)
    /// There is no DTLS connection now. Unreliable messages use the control link, and a new DTLS connection is tried
    /// later.
    case down(PeerReason)
}

/// Counters for a member's DTLS connections for unreliable messages. They are for diagnosis and tests.
package struct DatagramLaneReport: Equatable, Sendable {
    package var isReady = false
    /// `sentCount` is the number of messages that were sent so far on all DTLS connections of this member.
    /// `receivedCount` is the number of received messages.
    package var sentCount = 0
    package var receivedCount = 0
    /// The number of handshakes that this side has refused.
    package var refusedCount = 0
    /// Maximum message size on the DTLS connection in bytes; 0 if there is no connection.
    package var messageLimit = 0
}

/// Identifies a session on the wire: 16 random bytes. Only members, invited peers, and peers with ``ConnectionData``
/// for the session learn it. When the local peer leaves a session, the session gets a new handle.
package struct SessionHandle: Hashable, Sendable {
    package static let byteCount = 16
    /// The handle that a side sends before it has chosen a session.
    package static let none = SessionHandle(high: 0, low: 0)

    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Creates a handle. Returns `nil` unless there are 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(high: bytes.prefix(8).bigEndianInteger, low: bytes.dropFirst(8).bigEndianInteger)
    }

    package var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }
}

/// Identifies a session in this process.
package struct SessionID: Hashable, Sendable {
    package let rawValue: Int
    package init(_ rawValue: Int) { self.rawValue = rawValue }
}

/// Identifies a TLS connection in this process, from the dial or accept to its end. Numbers are not reused.
package struct LinkID: Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(_ rawValue: Int) { self.rawValue = rawValue }
    package static func < (left: LinkID, right: LinkID) -> Bool { left.rawValue < right.rawValue }
}

/// Identifies a received invitation that waits for the program's answer.
package struct InvitationID: Hashable, Sendable {
    package let rawValue: Int
    package init(_ rawValue: Int) { self.rawValue = rawValue }
}

/// Identifies a peer in a session. Calls and events name members with this ID.
package struct MemberID: Hashable, Sendable {
    package let session: SessionID
    package let peer: PeerKey
    package init(_ session: SessionID, _ peer: PeerKey) { (self.session, self.peer) = (session, peer) }
}

/// Identifies a member's stream or resource. Streams and resources are numbered separately: the peer with the smaller
/// key opens odd numbers, the other peer even numbers.
package struct ChannelID: Hashable, Sendable {
    package let member: MemberID
    package let number: UInt16
    /// Identifies the member's current membership: it is the link on which the member joined.
    ///
    /// If a member leaves and returns, its channel numbers begin again. The program may still hold streams and
    /// transfers from the earlier membership. This link distinguishes them from the new ones.
    let membership: LinkID

    init(_ member: MemberID, _ number: UInt16, in membership: LinkID) {
        (self.member, self.number, self.membership) = (member, number, membership)
    }
}

/// A peer's address and port.
package struct PeerEndpoint: Hashable, Sendable {
    /// The IP address, 4 or 16 bytes. It does not include the scope of a link-local address, because a scope is
    /// meaningful only on one host.
    package var address: [UInt8]
    package var port: UInt16

    /// Creates an endpoint. Returns `nil` if the address is not IPv4 or IPv6, or the port is 0.
    package init?(address: [UInt8], port: UInt16) {
        guard address.count == 4 || address.count == 16, port != 0 else { return nil }
        (self.address, self.port) = (address, port)
    }
}

package import CausewayWire

/// Numbers that RFC 6762 fixes, in one place.
package enum MulticastDNS {
    package static let port: UInt16 = 5_353
    /// Bytes of a message that fit into one Ethernet packet over either family (RFC 6762 §17).
    package static let messageByteLimit = 1_440
    /// Bytes of the largest message that anybody must take (RFC 6762 §17).
    static let largestMessageByteCount = 8_952
    /// For records that hold a host's name or address (RFC 6762 §10), in seconds.
    package static let hostTimeToLive: UInt32 = 120
    /// For all others.
    package static let otherTimeToLive: UInt32 = 4_500
    /// Under this name the types of a link's services are listed (RFC 6763 §9).
    package static let types: DNSName = "_services._dns-sd._udp.local"
    /// What others' records may take in memory on one link, in bytes; half of it if all are one sender's.
    package static let cachedByteLimit = RecordCache.byteLimit
    /// How long a record lives on after it was said to be gone, or to be replaced (RFC 6762 §10.1, §10.2).
    static let grace: Duration = .seconds(1)
}

/// Who sent a message.
package struct MulticastPeer: Hashable, Sendable {
    package var address: InternetAddress
    package var port: UInt16

    package init(_ address: InternetAddress, port: UInt16) {
        self.address = address
        self.port = port
    }
}

/// How a message came.
package struct MulticastArrival: Sendable {
    package var peer: MulticastPeer
    /// Whether it was sent to the group, not to this host alone.
    package var isMulticast: Bool
    /// Whether the sender is on the link by its address (RFC 6762 §11).
    package var isOnLink: Bool

    package init(from peer: MulticastPeer, isMulticast: Bool = true, isOnLink: Bool = true) {
        self.peer = peer
        self.isMulticast = isMulticast
        self.isOnLink = isOnLink
    }

    /// A full participant; others are simple resolvers that ask once (RFC 6762 §6.7).
    var isFull: Bool { peer.port == MulticastDNS.port }
}

/// Whom a message concerns, as far as a look at it tells.
package enum MulticastInterest: Sendable {
    case none
    /// Somebody asks or probes for what this host has, or asks what it asks: to be read before all answers.
    case question
    case answer
}

/// What a link's owner must do.
package enum MulticastAction: Equatable, Sendable {
    case send([UInt8])
    case reply([UInt8], to: MulticastPeer)
    /// What a question is answered by has changed.
    case changed(QuestionID, added: [DNSRecord], removed: [DNSRecord])
    /// The owner of the name says that it has no record of the type. That holds until something is found after all.
    case denied(QuestionID)
    /// All of a registration's names are its own now.
    case established(RegistrationID)
    /// Somebody else has one of a registration's names. It is off, until it is registered under another name.
    case conflicted(RegistrationID, DNSName)
}

/// A running question of a link.
package struct QuestionID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A group of records that a link answers for.
package struct RegistrationID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension Duration {
    /// A random time of at least `range`'s lower bound and less than its upper.
    static func random(
        in range: Range<Duration>, using random: inout any RandomNumberGenerator & Sendable
    ) -> Duration {
        let span = (range.upperBound - range.lowerBound) / Duration.microseconds(1)
        return range.lowerBound + .microseconds(Int64.random(in: 0..<max(Int64(span), 1), using: &random))
    }
}

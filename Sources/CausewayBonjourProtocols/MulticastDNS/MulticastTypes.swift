package import CausewayWire

/// Constants from RFC 6762.
package enum MulticastDNS {
    package static let port: UInt16 = 5_353
    /// Maximum message size in bytes for one Ethernet packet over IPv4 or IPv6 (RFC 6762 §17).
    package static let messageByteLimit = 1_440
    /// Maximum message size in bytes: a packet of 9,000 bytes without its headers (RFC 6762 §17).
    static let largestMessageByteCount = 8_952
    /// TTL in seconds for records with a host name or an address (RFC 6762 §10).
    package static let hostTimeToLive: UInt32 = 120
    /// TTL in seconds for all other records (RFC 6762 §10).
    package static let otherTimeToLive: UInt32 = 4_500
    /// The name that lists a link's service types (RFC 6763 §9).
    package static let types: DNSName = "_services._dns-sd._udp.local"
    /// Maximum memory in bytes for cached records per link. One sender's records may use half.
    package static let cachedByteLimit = RecordCache.byteLimit
    /// How long a record stays valid after a goodbye, or after a newer record replaced it (RFC 6762 §10.1, §10.2).
    static let grace: Duration = .seconds(1)
}

/// A message's sender or destination.
package struct MulticastPeer: Hashable, Sendable {
    package var address: InternetAddress
    package var port: UInt16

    package init(_ address: InternetAddress, port: UInt16) {
        self.address = address
        self.port = port
    }
}

/// How a message arrived.
package struct MulticastArrival: Sendable {
    package var peer: MulticastPeer
    /// Whether the message was sent to the multicast group, not only to this host.
    package var isMulticast: Bool
    /// Whether the sender's address belongs to the local link (RFC 6762 §11).
    package var isOnLink: Bool

    package init(from peer: MulticastPeer, isMulticast: Bool = true, isOnLink: Bool = true) {
        self.peer = peer
        self.isMulticast = isMulticast
        self.isOnLink = isOnLink
    }

    /// Whether the sender is a full participant: its source port is 5353. A sender with another source port is a legacy
    /// resolver, and queries only once (RFC 6762 §6.7).
    var isFull: Bool { peer.port == MulticastDNS.port }
}

/// How relevant a received message is. The relevance is determined before the message is parsed.
package enum MulticastInterest: Sendable {
    case none
    /// A query or probe for records that this host has. Or another host's query for records that this host also
    /// queries. Process such a message before all waiting responses.
    case question
    /// A response that contains records of interest: this host queries them, has cached them, or has registered them.
    case answer
}

/// An action that a ``MulticastLink`` requests from the code that runs it.
package enum MulticastAction: Equatable, Sendable {
    /// Send a message to the multicast group.
    case send([UInt8])
    case reply([UInt8], to: MulticastPeer)
    /// Check whether the peer's link-layer address is resolved. A reply was sent to the peer 40 ms ago. If the address
    /// is not resolved, call ``MulticastLink/neighbourUnresolved(_:at:)`` before any other method.
    case checkNeighbour(MulticastPeer)
    /// A question's answers have changed.
    case changed(QuestionID, added: [DNSRecord], removed: [DNSRecord])
    /// The name's owner has stated that no records with this type exist (NSEC, RFC 6762 §6.1). This is valid until such a record is found.
    case denied(QuestionID)
    /// The registration now answers queries. Its unique names have passed probing, or need no probing.
    case established(RegistrationID)
    /// The name is already taken, by another host or by another registration on this host. The registration sends
    /// nothing until it is registered again under another name.
    case conflicted(RegistrationID, DNSName)
}

/// Identifies a continuous query on a link.
package struct QuestionID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Identifies a registration on a link.
package struct RegistrationID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

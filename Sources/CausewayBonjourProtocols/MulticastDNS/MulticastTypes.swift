package import CausewayWire

/// Constants from RFC 6762.
package enum MulticastDNS {
    package static let port: UInt16 = 5_353
    /// The maximum message size in bytes that fits into one Ethernet packet over IPv4 and IPv6 (RFC 6762 §17).
    package static let messageByteLimit = 1_440
    /// The maximum message size in bytes that every host must accept (RFC 6762 §17).
    static let largestMessageByteCount = 8_952
    /// The time to live in seconds of records with a host name or an address (RFC 6762 §10).
    package static let hostTimeToLive: UInt32 = 120
    /// The time to live in seconds of all other records.
    package static let otherTimeToLive: UInt32 = 4_500
    /// The name that lists the service types on a link (RFC 6763 §9).
    package static let types: DNSName = "_services._dns-sd._udp.local"
    /// The maximum memory in bytes for records of other hosts on one link. Records of one sender may use half of it.
    package static let cachedByteLimit = RecordCache.byteLimit
    /// How long a record remains valid after a goodbye or a replacement (RFC 6762 §10.1, §10.2).
    static let grace: Duration = .seconds(1)
}

/// The sender of a message.
package struct MulticastPeer: Hashable, Sendable {
    package var address: InternetAddress
    package var port: UInt16

    package init(_ address: InternetAddress, port: UInt16) {
        self.address = address
        self.port = port
    }
}

/// The circumstances in which a message arrived.
package struct MulticastArrival: Sendable {
    package var peer: MulticastPeer
    /// Whether the message was sent to the multicast group and not only to this host.
    package var isMulticast: Bool
    /// Whether the sender's address is on the link (RFC 6762 §11).
    package var isOnLink: Bool

    package init(from peer: MulticastPeer, isMulticast: Bool = true, isOnLink: Bool = true) {
        self.peer = peer
        self.isMulticast = isMulticast
        self.isOnLink = isOnLink
    }

    /// Whether the sender is a full participant. Other senders are simple resolvers that query once (RFC 6762 §6.7).
    var isFull: Bool { peer.port == MulticastDNS.port }
}

/// The relevance of a message, which is determined before the message is parsed.
package enum MulticastInterest: Sendable {
    case none
    /// A query or probe for this host's records, or another host's query for records that this host also queries. It must be processed
    /// before all responses.
    case question
    case answer
}

/// An action that the owner of a ``MulticastLink`` must perform.
package enum MulticastAction: Equatable, Sendable {
    case send([UInt8])
    case reply([UInt8], to: MulticastPeer)
    /// Check whether the link-layer address of the peer is known, because a reply was sent 40 ms ago. If it is not known, call
    /// ``MulticastLink/neighbourUnresolved(_:at:)`` at once.
    case checkNeighbour(MulticastPeer)
    /// The set of records that answer a question has changed.
    case changed(QuestionID, added: [DNSRecord], removed: [DNSRecord])
    /// The owner of the name has stated that the name has no records of this type. This is valid until such a record is found.
    case denied(QuestionID)
    /// All unique names of the registration have passed probing.
    case established(RegistrationID)
    /// Another host has one of the names. The registration sends no more messages until it is registered again under another name.
    case conflicted(RegistrationID, DNSName)
}

/// The identifier of a continuous query on a link.
package struct QuestionID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The identifier of a group of registered records.
package struct RegistrationID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

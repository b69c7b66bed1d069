package import CausewayWire

/// A DNS server's address.
package struct DNSServer: Hashable, Sendable, CustomStringConvertible {
    package static let usualPort: UInt16 = 53

    /// The IP address. A link-local address is scoped to its interface.
    package var address: InternetAddress
    package var port: UInt16

    package init(_ address: InternetAddress, port: UInt16 = usualPort) {
        self.address = address
        self.port = port
    }

    package var description: String {
        switch address {
        case .ipv4: port == Self.usualPort ? "\(address)" : "\(address):\(port)"
        case .ipv6: port == Self.usualPort ? "\(address)" : "[\(address)]:\(port)"
        }
    }
}

/// A query's transport protocol.
package enum DNSCarrier: Hashable, Sendable { case udp, tcp }

/// Why a query has no answer.
package enum DNSFailure: Error, Hashable, Sendable {
    /// No server answered in time.
    case timedOut
    /// The servers answered with an error. The value is the response code of the last server that answered.
    case code(UInt16)
    /// There is no route to any server.
    case unreachable
    /// The servers' hosts rejected the packets, because no program listens on the DNS server's port.
    case connectionRefused
    /// The answer is too long for a datagram, and the server does not answer over TCP.
    case truncated
    /// The answer's CNAME records form a loop, or their chain is too long.
    case aliasLoop
}

/// The result of one query.
package struct DNSAnswer: Hashable, Sendable {
    package enum Finding: Hashable, Sendable {
        /// Records of the requested type, in the server's order.
        case records([DNSRecord])
        /// The name does not exist (NXDOMAIN).
        case noSuchName
        /// The name exists but has no record of this type.
        case noSuchRecord
        case failed(DNSFailure)
    }

    package var finding: Finding
    /// The name at the end of the CNAME chain.
    package var canonicalName: DNSName
    /// The CNAME records that lead from the queried name to the canonical name.
    package var aliases: [DNSRecord] = []
    /// How long the answer may be cached; zero if the answer must not be cached.
    package var timeToLive: Duration = .zero
    package var server: DNSServer?
    package var carrier: DNSCarrier?
    /// The time from the first query message to the answer.
    package var duration: Duration = .zero
    /// Whether the server states that it has validated the answer (RFC 4035 §3.2.3).
    package var isAuthentic = false

    package init(_ finding: Finding, for name: DNSName) {
        self.finding = finding
        canonicalName = name
    }

    package var records: [DNSRecord] {
        if case .records(let records) = finding { records } else { [] }
    }
}

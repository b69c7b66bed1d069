package import CausewayWire

/// Where questions are sent.
package struct DNSServer: Hashable, Sendable, CustomStringConvertible {
    package static let usualPort: UInt16 = 53

    /// A link-local address carries its interface.
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

/// What carried a question.
package enum DNSCarrier: Hashable, Sendable { case udp, tcp }

/// Why there is no answer.
package enum DNSFailure: Error, Hashable, Sendable {
    /// No server said anything in time.
    case timedOut
    /// The servers answered, and could not help: the last one's code.
    case code(UInt16)
    /// No server can be reached from here.
    case unreachable
    /// The servers' hosts say that nothing listens there.
    case connectionRefused
    /// The answer is too long for a datagram, and the server does not answer over TCP.
    case truncated
    /// Aliases lead in a circle, or too far.
    case aliasLoop
}

/// How one question ended.
package struct DNSAnswer: Hashable, Sendable {
    package enum Finding: Hashable, Sendable {
        /// Records of the type that was asked for, in the server's order.
        case records([DNSRecord])
        /// The name does not exist.
        case noSuchName
        /// The name has no record of this type.
        case noSuchRecord
        case failed(DNSFailure)
    }

    package var finding: Finding
    /// Where the aliases lead.
    package var canonicalName: DNSName
    /// CNAME records on the way.
    package var aliases: [DNSRecord] = []
    /// How long it may be remembered; zero for what may not.
    package var timeToLive: Duration = .zero
    package var server: DNSServer?
    package var carrier: DNSCarrier?
    /// From the first question to the answer.
    package var duration: Duration = .zero
    /// The server says that it has validated the answer (RFC 4035 §3.2.3).
    package var isAuthentic = false

    package init(_ finding: Finding, for name: DNSName) {
        self.finding = finding
        canonicalName = name
    }

    package var records: [DNSRecord] {
        if case .records(let records) = finding { records } else { [] }
    }
}

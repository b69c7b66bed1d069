/// How ports are asked.
public enum ScanTechnique: String, Hashable, Sendable {
    /// A SYN, to which an open port says SYN-ACK and a closed one RST (RFC 9293 §3.10.7). Needs raw sockets.
    case syn
    /// A connection of the kernel's, ended as soon as it is there. Needs no privilege.
    case connect
    /// A datagram: an answer means open, ICMP's port unreachable means closed (RFC 1122 §4.1.3.1). Needs no privilege.
    case udp
    /// An echo request, or on the same link a question to the neighbours: not a port but the host.
    case echo
}

/// What is known of a port.
public struct ScanFinding: Hashable, Sendable {
    /// What a port is, as far as its silence or its answer tells.
    public enum State: String, Hashable, Sendable {
        case open, closed, filtered
        /// Nothing came back, and an open port may be as silent as a filter.
        case openOrFiltered = "open|filtered"
        /// Not asked, or not answered when the scan was stopped.
        case unknown
    }

    /// Why a port is taken to be what it is.
    public enum Reason: UInt8, CaseIterable, Sendable {
        case notAsked, waiting, waitingAgain
        case noResponse
        case synAck, reset, connectionRefused, udpResponse, echoReply
        case portUnreachable, hostUnreachable, netUnreachable, protocolUnreachable
        case hostProhibited, netProhibited, adminProhibited
        case noRoute, addressUnreachable, timeExceeded
        case arpResponse, neighbourResponse

        /// The word that scanners have for it.
        public var name: String {
            switch self {
            case .notAsked: "not-asked"
            case .waiting, .waitingAgain: "waiting"
            case .noResponse: "no-response"
            case .synAck: "syn-ack"
            case .reset: "reset"
            case .connectionRefused: "conn-refused"
            case .udpResponse: "udp-response"
            case .echoReply: "echo-reply"
            case .portUnreachable: "port-unreach"
            case .hostUnreachable: "host-unreach"
            case .netUnreachable: "net-unreach"
            case .protocolUnreachable: "proto-unreach"
            case .hostProhibited: "host-prohibited"
            case .netProhibited: "net-prohibited"
            case .adminProhibited: "admin-prohibited"
            case .noRoute: "no-route"
            case .addressUnreachable: "addr-unreach"
            case .timeExceeded: "time-exceeded"
            case .arpResponse: "arp-response"
            case .neighbourResponse: "nd-response"
            }
        }

        /// What an ICMP message about a probe says; `nil` where it says nothing about the port.
        public init?(icmpType: UInt8, code: UInt8, isIPv6: Bool) {
            switch (isIPv6, icmpType, code) {
            case (false, 3, 0), (false, 3, 6): self = .netUnreachable
            case (false, 3, 1), (false, 3, 7): self = .hostUnreachable
            case (false, 3, 2): self = .protocolUnreachable
            case (false, 3, 3), (true, 1, 4): self = .portUnreachable
            case (false, 3, 9): self = .netProhibited
            case (false, 3, 10): self = .hostProhibited
            case (false, 3, 13), (true, 1, 1), (true, 1, 5), (true, 1, 6): self = .adminProhibited
            case (true, 1, 0): self = .noRoute
            case (true, 1, 3): self = .addressUnreachable
            case (false, 11, _), (true, 3, _): self = .timeExceeded
            default: return nil
            }
        }

        /// Whether the port's fate is known.
        var isFinal: Bool { rawValue >= Reason.noResponse.rawValue }
    }

    public var state: State
    public var reason: Reason

    public init(_ reason: Reason, technique: ScanTechnique) {
        self.reason = reason
        switch reason {
        case .notAsked, .waiting, .waitingAgain: state = .unknown
        case .synAck, .udpResponse, .echoReply, .arpResponse, .neighbourResponse: state = .open
        case .reset, .connectionRefused: state = .closed
        case .portUnreachable: state = technique == .udp ? .closed : .filtered
        case .noResponse: state = technique == .udp ? .openOrFiltered : .filtered
        default: state = .filtered
        }
    }
}

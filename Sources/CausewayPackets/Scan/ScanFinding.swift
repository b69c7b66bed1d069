/// The probe type in a scan.
public enum ScanTechnique: String, Hashable, Sendable {
    /// A TCP SYN: an open port answers with SYN-ACK, a closed one with RST (RFC 9293 §3.10.7). Needs raw sockets.
    case syn
    /// The kernel connects to the port, and the connection is closed as soon as it is established. Needs no privilege.
    case connect
    /// A UDP datagram: an answer means open, an ICMP port unreachable error means closed (RFC 1122 §4.1.3.1). Needs no privilege.
    case udp
    /// An echo request, or address resolution on the local link: tests the host, not a port.
    case echo
}

/// The result for one port.
public struct ScanFinding: Hashable, Sendable {
    /// The state of a probed port.
    public enum State: String, Hashable, Sendable {
        /// The port was probed, with this result:
        ///
        /// - `open`: the port accepts the probe
        /// - `closed`: the host rejects the probe
        /// - `filtered`: a filter or a network error prevents an answer
        case open, closed, filtered
        /// No answer: the port is open and silent, or filtered.
        case openOrFiltered = "open|filtered"
        /// The port was not probed, or no answer arrived before the scan was stopped.
        case unknown
    }

    /// The observation that determines the ``State`` of a port.
    public enum Reason: UInt8, CaseIterable, Sendable {
        /// There is no result yet:
        ///
        /// - `notAsked`: the port is not probed yet
        /// - `waiting`: the probe waits for an answer
        /// - `waitingAgain`: the port waits for another attempt
        case notAsked, waiting, waitingAgain
        /// The port answered none of the attempts.
        case noResponse
        /// What answered the probe: a TCP SYN-ACK segment, a TCP RST segment, a refused connection, a UDP datagram, or
        /// an ICMP echo reply.
        case synAck, reset, connectionRefused, udpResponse, echoReply
        /// ICMP destination unreachable: the port, the host, the network or the protocol.
        case portUnreachable, hostUnreachable, netUnreachable, protocolUnreachable
        /// ICMP destination unreachable: a packet filter on the path prohibits the traffic.
        case hostProhibited, netProhibited, adminProhibited
        /// ICMPv6 destination unreachable because there is no route or no neighbour, or ICMP time exceeded.
        case noRoute, addressUnreachable, timeExceeded
        /// The host answered an address query on the link: an ARP request for IPv4, or a neighbour solicitation for
        /// IPv6.
        case arpResponse, neighbourResponse
        /// A packet filter or a route on the scanning host prohibits the probe. This result says nothing about the
        /// probed host.
        case localRule

        /// The short name of the reason, as port scanners print it.
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
            case .localRule: "local-rule"
            }
        }

        /// Converts an ICMP error that a probe caused to a reason. The result is `nil` if the error does not concern
        /// the probed port.
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

        /// Whether the port's result is final.
        var isFinal: Bool { rawValue >= Reason.noResponse.rawValue }
    }

    /// The port's state.
    public var state: State
    /// The observation that determines ``state``.
    public var reason: Reason

    /// Creates the finding for an observation.
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

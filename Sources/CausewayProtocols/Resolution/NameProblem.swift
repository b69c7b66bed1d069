internal import CausewayWire

/// The reason why no addresses were found for a name.
package enum NameProblem: Error, Hashable, Sendable {
    case notFound
    /// No server answered in time. A later attempt may succeed.
    case timedOut
    case refused
    /// The servers' hosts rejected the packets, because no program listens on the DNS port there.
    case connectionRefused
    case serverFailure
    /// There is no route to any server.
    case unreachable
    /// The text is not a valid host name.
    case invalidName

    package init(_ failure: DNSFailure) {
        switch failure {
        case .timedOut: self = .timedOut
        case .unreachable: self = .unreachable
        case .aliasLoop, .truncated: self = .serverFailure
        case .connectionRefused: self = .connectionRefused
        case .code(let code): self = code == DNSResponseCode.refused.rawValue ? .refused : .serverFailure
        }
    }
}

/// Stores why the queries of a lookup failed.
struct NameFailures: Sendable {
    /// The failure that the lookup reports. `nil` if no query has failed.
    private(set) var problem: NameProblem?
    private(set) var worstStatus: NameServiceOrder.Status = .notfound

    /// Whether a query failed because of the DNS servers. Then a query for the next name would fail too.
    var areOfServers: Bool { Self.isOfServers(problem) }

    private static func isOfServers(_ problem: NameProblem?) -> Bool {
        [.timedOut, .unreachable, .connectionRefused].contains(problem)
    }

    mutating func note(_ finding: DNSAnswer.Finding) {
        guard case .failed(let failure) = finding else { return }
        // The answers for IPv4 and IPv6 addresses arrive in any order. A failure of the DNS servers, such as a timeout,
        // takes precedence over other failures. A later failure of another kind therefore does not replace it.
        if Self.isOfServers(NameProblem(failure)) || !areOfServers { problem = NameProblem(failure) }
        guard worstStatus != .tryagain else { return }
        worstStatus = [.timedOut, .connectionRefused, .truncated].contains(failure) ? .tryagain : .unavail
    }
}

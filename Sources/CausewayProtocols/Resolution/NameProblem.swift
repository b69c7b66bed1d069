internal import CausewayWire

/// Why a name has no addresses.
package enum NameProblem: Error, Hashable, Sendable {
    case notFound
    /// No server answered in time. A later attempt may succeed.
    case timedOut
    case refused
    /// The servers' hosts rejected the packets, because no program listens on the port.
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

/// The failed queries of a lookup.
struct NameFailures: Sendable {
    /// The failure to report; `nil` without failures.
    private(set) var problem: NameProblem?
    private(set) var worstStatus: NameServiceOrder.Status = .notfound

    /// Whether a query failed because of the servers, so that a query for the next name would fail too.
    var areOfServers: Bool { Self.isOfServers(problem) }

    private static func isOfServers(_ problem: NameProblem?) -> Bool {
        [.timedOut, .unreachable, .connectionRefused].contains(problem)
    }

    mutating func note(_ finding: DNSAnswer.Finding) {
        guard case .failed(let failure) = finding else { return }
        // The answers for the two address families arrive in any order. So a failure of the servers, such as a timeout,
        // takes precedence over other failures, even if another failure arrives later.
        if Self.isOfServers(NameProblem(failure)) || !areOfServers { problem = NameProblem(failure) }
        guard worstStatus != .tryagain else { return }
        worstStatus = [.timedOut, .connectionRefused, .truncated].contains(failure) ? .tryagain : .unavail
    }
}

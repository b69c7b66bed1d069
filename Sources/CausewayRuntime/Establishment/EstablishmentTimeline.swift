internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes

extension EstablishmentFacts {
    /// One step in establishing a connection. `start` and `end` are in seconds since ``EstablishmentFacts/started``.
    package struct TimelineEntry: Sendable {
        package var kind: String
        package var label: String
        package var start: Double
        package var end: Double?
        package var outcome: String
        /// Why an attempt failed.
        package var failure: Failure?
    }

    /// A list of all DNS queries, followed by all connection attempts. Each part is in chronological order.
    package var timeline: [TimelineEntry] {
        var entries = queries.map { query in
            let end = query.answered / .seconds(1)
            let server = query.answer.server.map { " at \($0)" } ?? ""
            return TimelineEntry(
                kind: "query", label: "\(query.type) (\(NameQuery.text(query.origin))\(server))",
                start: max(0, end - query.answer.duration / .seconds(1)), end: end,
                outcome: NameQuery.text(query.answer.finding))
        }
        if queries.isEmpty, let resolution {
            entries.append(
                TimelineEntry(
                    kind: "query", label: "name (\(NameQuery.text(resolution.origin)))", start: 0,
                    end: resolution.duration / .seconds(1), outcome: "\(resolution.addressCount) found"))
        }
        let listed = attempts.isEmpty ? onlyAttempt : attempts
        entries += listed.map { attempt in
            TimelineEntry(
                kind: "attempt",
                label: Self.text(attempt.address) + (attempt.interface.map { " over \($0.name)" } ?? ""),
                start: attempt.started / .seconds(1),
                end: attempt.ended.map { $0 / .seconds(1) }, outcome: Self.text(attempt.outcome),
                failure: Self.failure(attempt.outcome))
        }
        return entries
    }

    /// The successful attempt, if the host has a single address. It is built from the connection's times, because
    /// ``attempts`` usually does not contain it.
    private var onlyAttempt: [Attempt] {
        guard let firstAddress, let connected else { return [] }
        return [
            Attempt(
                candidate: 0, address: firstAddress, started: attemptStarted - started, ended: connected - started,
                outcome: .connected)
        ]
    }

    private static func text(_ outcome: Attempt.Outcome) -> String {
        switch outcome {
        case .pending: "unfinished"
        case .connected: "connected"
        case .abandoned: "abandoned"
        case .failed: "failed"
        }
    }

    private static func failure(_ outcome: Attempt.Outcome) -> Failure? {
        if case .failed(let code) = outcome { Failure(errno: code) } else { nil }
    }

    private static func text(_ address: SocketAddress) -> String {
        switch address {
        case .ipv4: "\(address.internetAddress.map(\.description) ?? "?"):\(address.port)"
        case .ipv6: "[\(address.internetAddress.map(\.description) ?? "?")]:\(address.port)"
        case .unix(let path): path
        }
    }
}

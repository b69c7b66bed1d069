internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Monitors a name's DNS records. Queries again when the records' time to live has expired, and reports changes (RFC
/// 6763 §10).
final class WideAreaWatch: Sendable {
    private struct State: Sendable {
        var known: Set<DNSRecord> = []
        var timer: TimerID?
        var isFailing = false
        var wasAnswered = false
        var hasEnded = false
    }

    /// The limits for the pause between two queries, in seconds. Within these limits, the pause is the shortest time to
    /// live among the records.
    private static let pauses: ClosedRange<Int64> = 10...3_600
    /// The pause before the next query if the latest answer contained no records.
    private static let usualPause: Duration = .seconds(60)
    /// The pause before the next query if no server has answered.
    private static let retryPause: Duration = .seconds(10)

    private let name: DNSName
    private let type: DNSRecordType
    private let scope: ResolutionScope
    private let failed: @Sendable (NameProblem?) -> Void
    private let report: @Sendable (RecordChanges) -> Void
    private let state = LockedValue(State())

    /// - Parameters:
    ///   - name: The name to query.
    ///   - type: The record type.
    ///   - scope: The interfaces for queries.
    ///   - failed: Called on a loop with the failure if no server answers the first query, and with `nil` if a server
    ///     answers after that. Later failures are not reported.
    ///   - report: Called on a loop.
    init(
        _ name: DNSName, _ type: DNSRecordType, in scope: ResolutionScope,
        failed: @escaping @Sendable (NameProblem?) -> Void, _ report: @escaping @Sendable (RecordChanges) -> Void
    ) {
        self.name = name
        self.type = type
        self.scope = scope
        self.failed = failed
        self.report = report
    }

    func begin() { ask() }

    func end() {
        let timer = state.withLock { state in
            state.hasEnded = true
            return state.timer.take()
        }
        if let timer { BonjourEngine.shared.loop.cancel(timer) }
    }

    private func ask() {
        ResolverEngine.shared.ask(name, type, scope: scope) { [weak self] answer, _ in self?.heard(answer) }
    }

    private func heard(_ answer: DNSAnswer) {
        switch answer.finding {
        case .records(let found):
            let records = answer.aliases + found
            let minimum = Int64(records.map(\.timeToLive).min() ?? 60)
            adopt(records)
            wait(.seconds(min(max(minimum, Self.pauses.lowerBound), Self.pauses.upperBound)))
        // A negative response also counts as an answer. It means that the name has no records.
        case .noSuchName, .noSuchRecord:
            adopt([])
            wait(Self.usualPause)
        case .failed(let failure):
            let isNew = state.withLock { state in
                defer { state.isFailing = true }
                return !state.isFailing && !state.wasAnswered && !state.hasEnded
            }
            if isNew { failed(NameProblem(failure)) }
            wait(Self.retryPause)
        }
    }

    private func adopt(_ answered: [DNSRecord]) {
        // Leave the time to live out of the comparison, because caching servers count it down.
        let records = Set(answered.map { DNSRecord($0.name, $0.type, timeToLive: 0, $0.data) })
        let (changes, hasRecovered) = state.withLock { state -> (RecordChanges?, Bool) in
            guard !state.hasEnded else { return (nil, false) }
            let hasRecovered = state.isFailing && !state.wasAnswered
            defer { (state.known, state.isFailing, state.wasAnswered) = (records, false, true) }
            let removed = Array(state.known.subtracting(records))
            let fresh = records.subtracting(state.known)
            let added = answered.filter { fresh.contains(DNSRecord($0.name, $0.type, timeToLive: 0, $0.data)) }
            let hasChanged = !removed.isEmpty || !added.isEmpty
            return (hasChanged ? RecordChanges(interface: nil, added: added, removed: removed) : nil, hasRecovered)
        }
        if hasRecovered { failed(nil) }
        if let changes { report(changes) }
    }

    private func wait(_ pause: Duration) {
        let loop = BonjourEngine.shared.loop
        let timer = loop.schedule(after: pause) { [weak self] in self?.ask() }
        let isLate = state.withLock { state in
            if !state.hasEnded { state.timer = timer }
            return state.hasEnded
        }
        if isLate { loop.cancel(timer) }
    }
}

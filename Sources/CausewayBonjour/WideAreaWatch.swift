internal import Causeway
internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Follows the records of a name that name servers know: asked for anew when their time is over, told of as they change
/// (RFC 6763 §10).
final class WideAreaWatch: Sendable {
    typealias Record = ServiceDiscovery.Record
    typealias Change = ServiceDiscovery.Change<Record>

    private struct State: Sendable {
        var known: Set<Record> = []
        var timer: TimerID?
        var isFirst = true
        var hasEnded = false
    }

    /// Nobody is asked more often than this, however short records hold, nor more seldom. In seconds.
    private static let pauses: ClosedRange<Int64> = 10...3_600
    /// How long to wait where there is nothing, or servers were away.
    private static let usualPause: Duration = .seconds(60)

    private let name: DNSName
    private let type: DNSRecordType
    private let report: @Sendable (Result<[Change], NWError>) -> Void
    private let state = Guarded(State())

    /// - Parameter report: Called on a loop. A failure comes only for the first question: later on, servers may be away for a while.
    init(_ name: DNSName, _ type: DNSRecordType, _ report: @escaping @Sendable (Result<[Change], NWError>) -> Void) {
        self.name = name
        self.type = type
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
        ResolverEngine.shared.ask(name, type) { [weak self] answer, _ in self?.heard(answer) }
    }

    private func heard(_ answer: DNSAnswer) {
        var (records, pause): ([DNSRecord]?, Duration) = ([], Self.usualPause)
        switch answer.finding {
        case .records(let found):
            records = answer.aliases + found
            let least = records?.map(\.timeToLive).min() ?? 60
            pause = .seconds(min(max(Int64(least), Self.pauses.lowerBound), Self.pauses.upperBound))
        // That there are none is an answer.
        case .noSuchName, .noSuchRecord: break
        case .failed(let failure):
            records = nil
            if state.withLock({ $0.isFirst && !$0.hasEnded }) {
                end()
                return report(.failure(NameProblem(failure).failure.networkError))
            }
        }
        if let records { adopt(Set(records.map(Record.init(answered:)))) }
        wait(pause)
    }

    private func adopt(_ records: Set<Record>) {
        let changes = state.withLock { state -> [Change] in
            defer { (state.known, state.isFirst) = (records, false) }
            guard !state.hasEnded else { return [] }
            return state.known.subtracting(records).map { .removed($0) }
                + records.subtracting(state.known).map { .added($0) }
        }
        if !changes.isEmpty { report(.success(changes)) }
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

extension ServiceDiscovery.Record {
    fileprivate init(answered record: DNSRecord) {
        self.init(
            name: record.name.description, type: record.type.description, timeToLive: Int(record.timeToLive),
            content: record.data.description, interface: nil, found: nil)
    }
}

import CausewayHTTPProtocols
import CausewayTestKit

/// A queue under test, with a virtual clock and a simulated server. The test chooses the server's answers. This class
/// records everything that the queue requests.
final class Replay {
    let clock = VirtualClock()
    private let limits: OfflineLimits
    var queue: ReplayQueue
    /// The operations that were begun, in order.
    var begun: [UInt64] = []
    var finished: [StoredReport] = []
    var asked: [UInt64] = []
    /// The records that a journal would contain.
    var records: [JournalRecord] = [.header(lastID: 0)]

    init(_ change: (inout OfflinePolicy) -> Void = { _ in }, limits: OfflineLimits = OfflineLimits()) {
        var policy = OfflinePolicy()
        change(&policy)
        self.limits = limits
        queue = ReplayQueue(policy: policy, limits: limits)
    }

    var now: ReplayTime {
        let uptime = clock.now.offset
        return ReplayTime(uptime: uptime, date: Int64(uptime / .milliseconds(1)))
    }

    func perform(_ effects: [ReplayEffect]) {
        for effect in effects {
            switch effect {
            case .store(let record): records.append(record)
            case .begin(let id): begun.append(id)
            case .finish(let report): finished.append(report)
            case .ask(let id, _): asked.append(id)
            case .interrupt, .release: break
            }
        }
    }

    @discardableResult
    func add(
        lane: String = "", method: String = "POST", isIdempotent: Bool = false, maximumAge: Int64 = 0,
        maximumAttempts: UInt32 = 10
    ) -> UInt64 {
        let date = now.date
        guard
            let joined = try? queue.enqueue({
                operation(
                    $0, lane: lane, method: method, isIdempotent: isIdempotent, created: date, maximumAge: maximumAge,
                    maximumAttempts: maximumAttempts)
            })
        else { return 0 }
        perform(joined.effects)
        queue.stored(joined.id)
        return joined.id
    }

    /// Advances the queue to the current time. Returns the operations that the queue begins to send.
    @discardableResult
    func advance() -> [UInt64] {
        let count = begun.count
        perform(queue.advance(to: now))
        return Array(begun[count...])
    }

    /// Moves the clock to the queue's next deadline. Returns how far the clock moved; `nil` if there is no deadline.
    @discardableResult
    func pass() -> Duration? {
        guard let deadline = queue.deadline else { return nil }
        let wait = deadline - clock.now.offset
        clock.advance(by: wait)
        return wait
    }

    func end(_ id: UInt64, _ end: AttemptEnd, jitter: Double = 1) {
        perform(queue.attemptEnded(id, end, at: now, jitter: jitter))
    }

    func succeed(_ id: UInt64) { end(id, .response(status: 200)) }

    /// Simulates a restart: the process is killed, and the next process restores the queue from the stored records.
    func kill() {
        let old = queue
        queue = ReplayQueue(policy: old.policy, limits: limits)
        perform(queue.recover(records, at: now))
    }

    var outcomes: [UInt64: OfflineOutcome] {
        Dictionary(finished.map { ($0.id, $0.outcome) }, uniquingKeysWith: { first, _ in first })
    }
}

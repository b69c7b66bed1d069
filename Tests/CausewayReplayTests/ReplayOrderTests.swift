import CausewayHTTPProtocols
import CausewayTestKit
import Testing

@Suite("Offline queue: random orders of attempts, changes and kills")
struct ReplayOrderTests {
    static let fates: [OfflinePolicy.UnknownFate] = [.replayIfIdempotent, .replay, .report, .stop]

    @Test(
        "An operation is never sent twice at a time, nor again if that may apply it twice, and has one outcome",
        arguments: fates, 0..<60)
    func order(_ fate: OfflinePolicy.UnknownFate, _ seed: Int) {
        let history = RandomHistory(fate, seed: UInt64(seed))
        for _ in 0..<200 { history.step() }
        history.finish()
    }
}

/// A random history of an offline queue, with a server and a program.
private final class RandomHistory {
    private let replay: Replay
    private let fate: OfflinePolicy.UnknownFate
    private var random: SplitMix64
    private var all: [UInt64] = []
    private var keyCount = 0
    /// The operations that are being sent, and whether their requests have reached the server.
    private var running: [UInt64: Bool] = [:]
    /// The refused operations about which the program has not decided.
    private var asked: [UInt64] = []
    /// The keys of the operations that the server may have applied without a response to the queue.
    private var doubtful: Set<String> = []

    init(_ fate: OfflinePolicy.UnknownFate, seed: UInt64) {
        self.fate = fate
        random = SplitMix64(seed: seed)
        replay = Replay {
            $0.unknownFate = fate
            $0.conflict = .ask
            $0.backoff = .init(base: .milliseconds(10), maximum: .seconds(1))
        }
    }

    func step() {
        switch random.integer(in: 0...11) {
        case 0, 1:
            let lane = "\(random.integer(in: 0...2))"
            all.append(replay.add(lane: lane, isIdempotent: random.chance(oneIn: 2), maximumAttempts: 1_000))
        case 2...4: advance()
        case 5...7: endAttempt()
        case 8: replay.pass()
        case 9: decide()
        case 10: change()
        default: if random.chance(oneIn: 3) { kill() } else { compare() }
        }
    }

    /// Lets the server accept the rest. Each operation then has exactly one outcome.
    func finish() {
        for _ in 0..<20_000 where replay.queue.count > 0 {
            for id in running.keys.sorted() { replay.succeed(id) }
            running = [:]
            for id in asked {
                replay.perform(replay.queue.resolved(id, .drop, status: 409, at: replay.now, jitter: 1))
            }
            asked = []
            for id in all { replay.perform(resume(id) ?? []) }
            replay.pass()
            advance()
        }
        #expect(replay.queue.count == 0)
        #expect(replay.finished.map(\.id).sorted() == all)
    }

    // MARK: Attempts

    private func advance() {
        for id in replay.advance() {
            guard let operation = replay.queue.operation(id) else {
                Issue.record("operation \(id) is sent after its end")
                continue
            }
            #expect(running[id] == nil && !asked.contains(id), "operation \(id) is already being sent")
            let others = running.keys.compactMap { replay.queue.operation($0) }
            #expect(!others.contains { $0.lane == operation.lane }, "two operations of a lane are being sent")
            let isRepeatable = fate == .replay || fate == .replayIfIdempotent && operation.rules.isIdempotent
            #expect(isRepeatable || !doubtful.contains(operation.key), "operation \(id) may be applied twice")
            running[id] = !random.chance(oneIn: 4)
        }
    }

    private func endAttempt() {
        guard let id = running.keys.sorted().randomElement(using: &random), let hasArrived = running[id] else { return }
        running[id] = nil
        let ends: [AttemptEnd] =
            hasArrived
            ? [
                .response(status: 200), .response(status: 401), .response(status: 409), .response(status: 502),
                .response(status: 503), .lost, .interrupted, .noWayAfterRefusal,
            ] : [.noWay, .notSent, .lost]
        let end = ends.randomElement(using: &random) ?? .lost
        let isDoubtful = end == .lost || end == .interrupted || end == .response(status: 502)
        if isDoubtful, let key = replay.queue.operation(id)?.key { doubtful.insert(key) }
        replay.end(id, end)
        if replay.queue.phase(id) == .asking { asked.append(id) }
    }

    private func kill() {
        for id in running.keys {
            if let key = replay.queue.operation(id)?.key { doubtful.insert(key) }
        }
        (running, asked) = ([:], [])
        replay.kill()
    }

    /// Restores a queue from the records. If nothing is being sent, its state is that of the running queue.
    private func compare() {
        guard running.keys.allSatisfy({ replay.queue.operation($0) == nil }) else { return }
        var restored = ReplayQueue(policy: replay.queue.policy)
        let effects = restored.recover(replay.records, at: replay.now)
        #expect(effects.isEmpty && restored.snapshot == replay.queue.snapshot)
    }

    // MARK: The program

    private func newKey() -> String {
        keyCount += 1
        return "new-\(keyCount)"
    }

    private func decide() {
        guard let id = asked.popLast() else { return }
        let rewrite = StoredRewrite(message: StoredMessage(method: "PUT", target: "other"), key: newKey())
        let decisions: [OfflineDecision<StoredRewrite>] = [.drop, .stop, .retry, .rewrite(rewrite)]
        let decision = decisions.randomElement(using: &random) ?? .drop
        replay.perform(replay.queue.resolved(id, decision, status: 409, at: replay.now, jitter: 1))
    }

    private func change() {
        guard let id = all.randomElement(using: &random), let other = all.randomElement(using: &random) else { return }
        let effects: [ReplayEffect]? =
            switch random.integer(in: 0...4) {
            case 0: try? replay.queue.cancel(id, at: replay.now.date)
            case 1: try? replay.queue.edit(id, StoredMessage(method: "PUT", target: "edited"), key: newKey())
            case 2: try? replay.queue.move(id, before: random.chance(oneIn: 2) ? nil : other)
            case 3: resume(id)
            default: replay.queue.acknowledge(id)
            }
        replay.perform(effects ?? [])
    }

    /// Continues a stopped lane. The program has found out from the server that the operation may be sent.
    private func resume(_ id: UInt64) -> [ReplayEffect]? {
        let effects = try? replay.queue.resume(id)
        if effects != nil, let key = replay.queue.operation(id)?.key { doubtful.remove(key) }
        return effects
    }
}

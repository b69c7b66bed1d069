import CausewayHTTPProtocols
import CausewayTestKit
import Testing

@Suite("The five laws of the state machines of offline queues")
struct ReplayMachineLawTests {
    @Test("A machine obeys the five laws in random histories")
    func obeysLaws() {
        for breach in ReplayTrials.queue.breaches(seeds: MachineSeeds.range) { Issue.record("\(breach)") }
    }
}

enum ReplayTrials {
    private struct Seen: Sendable {
        var ids: [UInt64] = []
        var begun: [UInt64] = []
        var asked: [UInt64] = []
        /// The number of milliseconds by which the wall clock was set forward or back.
        var dateChange: Int64 = 0

        func time(_ uptime: Duration) -> ReplayTime {
            ReplayTime(uptime: uptime, date: 1_700_000_000_000 + dateChange + Int64(uptime / .milliseconds(1)))
        }
    }

    static var queue: any MachineTesting {
        MachineTrial("ReplayQueue", model: Seen()) { random in
            var policy = OfflinePolicy()
            policy.conflict = [.drop, .stop, .ask].randomElement(using: &random) ?? .ask
            policy.unknownFate = [.replay, .report, .stop].randomElement(using: &random) ?? .replay
            policy.backoff = .init(base: .milliseconds(100), maximum: .seconds(5))
            var limits = OfflineLimits()
            (limits.operations, limits.activeLanes) = (8, random.integer(in: 1...3))
            return ReplayQueue(policy: policy, limits: limits)
        } event: { queue, seen, now, random in
            switch random.integer(in: 0...11) {
            case 0, 1: return enqueue(&queue, &seen, now, &random)
            case 2: if let id = seen.ids.randomElement(using: &random) { queue.stored(id) }
            case 3: return changed(&queue, seen, now, &random)
            case 4: queue.networkChanged(isReachable: random.chance(oneIn: 2), at: seen.time(now))
            case 5:
                if random.chance(oneIn: 3) { seen.dateChange = Int64(random.integer(in: -40_000...40_000)) }
                return queue.advance(to: seen.time(now))
            case 6, 7:
                guard let id = seen.asked.popLast() else { break }
                let message = StoredMessage(method: "PUT", target: "other")
                let decisions: [OfflineDecision<StoredRewrite>] = [
                    .drop, .stop, .retry, .rewrite(StoredRewrite(message: message, key: "new")),
                ]
                let decision = decisions.randomElement(using: &random) ?? .stop
                return queue.resolved(id, decision, status: 409, at: seen.time(now), jitter: 0.5)
            default:
                guard let id = seen.begun.randomElement(using: &random) else { break }
                seen.begun.removeAll { $0 == id }
                return queue.attemptEnded(id, end(&random), at: seen.time(now), jitter: 0.5)
            }
            return []
        }.noting { seen, effect in
            switch effect {
            case .begin(let id): seen.begun.append(id)
            case .ask(let id, _): seen.asked.append(id)
            case .store, .interrupt, .finish, .release: break
            }
        }
    }

    private static func enqueue(
        _ queue: inout ReplayQueue, _ seen: inout Seen, _ now: Duration, _ random: inout SplitMix64
    ) -> [ReplayEffect] {
        let lane = "\(random.integer(in: 0...3))"
        let age = random.chance(oneIn: 2) ? Int64(random.integer(in: 1...30_000)) : 0
        let (date, attempts) = (seen.time(now).date, UInt32(random.integer(in: 1...5)))
        guard
            let joined = try? queue.enqueue({
                operation($0, lane: lane, created: date, maximumAge: age, maximumAttempts: attempts)
            })
        else { return [] }
        seen.ids.append(joined.id)
        switch random.integer(in: 0...5) {
        case 0: break
        case 1: queue.notStored(joined.id)
        default: queue.stored(joined.id)
        }
        return joined.effects
    }

    /// Simulates a change that the program makes to an operation. For example, the program cancels, edits or moves it.
    private static func changed(
        _ queue: inout ReplayQueue, _ seen: Seen, _ now: Duration, _ random: inout SplitMix64
    ) -> [ReplayEffect] {
        guard let id = seen.ids.randomElement(using: &random) else { return [] }
        let effects: [ReplayEffect]? =
            switch random.integer(in: 0...4) {
            case 0: try? queue.cancel(id, at: seen.time(now).date)
            case 1: try? queue.edit(id, StoredMessage(method: "PUT", target: "edited"), key: "edited")
            case 2: try? queue.move(id, before: random.chance(oneIn: 2) ? nil : seen.ids.randomElement(using: &random))
            case 3: try? queue.resume(id)
            default: queue.acknowledge(id)
            }
        return effects ?? []
    }

    private static func end(_ random: inout SplitMix64) -> AttemptEnd {
        switch random.integer(in: 0...9) {
        case 0, 1: .noWay
        case 2: .noWayAfterRefusal
        case 3: .lost
        case 4: .interrupted
        case 5: .notSent
        case 6: .invalid("missing")
        case 7: .response(status: 503, retryAfter: .seconds(random.integer(in: 0...20)))
        default: .response(status: [200, 401, 404, 409, 502].randomElement(using: &random) ?? 200)
        }
    }
}

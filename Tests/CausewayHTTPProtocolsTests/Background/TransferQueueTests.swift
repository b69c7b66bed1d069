import CausewayHTTPProtocols
import Testing

@Suite("The order and the back-off of background transfers (§21)")
struct TransferQueueTests {
    private let start = Duration.seconds(1_700_000_000)

    private func limits(running: Int = 2) -> TransferQueue.Limits {
        var limits = TransferQueue.Limits()
        limits.running = running
        return limits
    }

    @Test("Higher priorities first, then the order of creation; as many as there are places")
    func order() {
        var queue = TransferQueue(limits: limits())
        for (id, priority) in [(1, 0.5), (2, 0.25), (3, 0.75), (4, 0.5)] as [(Int, Float)] {
            queue.add(id, priority: priority)
        }
        #expect(queue.next(at: start) == [3, 1])
        #expect(queue.next(at: start).isEmpty)
        queue.remove(3)
        #expect(queue.next(at: start) == [4])
        queue.add(5, priority: 0.25)
        queue.setPriority(1, 5)
        queue.remove(1)
        #expect(queue.next(at: start) == [5])
        queue.remove(5)
        #expect(queue.next(at: start) == [2])
        queue.remove(2)
        queue.remove(4)
        #expect(queue.isEmpty && queue.wakeUp(at: start) == nil)
    }

    @Test("Eight transfers run at a time")
    func places() {
        var queue = TransferQueue()
        for id in 1...10 { queue.add(id, priority: 0.5) }
        #expect(queue.next(at: start) == Array(1...8))
        queue.remove(3)
        #expect(queue.next(at: start) == [9])
    }

    @Test("A transfer that is added again keeps its state")
    func addedTwice() {
        var queue = TransferQueue()
        queue.add(1, priority: .nan)
        #expect(queue.next(at: start) == [1])
        queue.add(1, priority: 1)
        #expect(queue.next(at: start).isEmpty)
    }

    @Test("The delay doubles up to ten minutes, and restarts after progress")
    func backOff() {
        var queue = TransferQueue()
        queue.add(7, priority: 0.5)
        var now = start
        var delays: [Duration] = []
        for attempt in 0..<40 {
            #expect(queue.next(at: now) == [7])
            let delay = queue.attemptFailed(7, progressed: attempt == 20, at: now, spread: 1)
            delays.append(delay ?? .zero)
            #expect(queue.next(at: now + delays[attempt] - .nanoseconds(1)).isEmpty)
            #expect(queue.wakeUp(at: now) == now + delays[attempt])
            now += delays[attempt]
        }
        #expect(delays.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(delays[19] == .seconds(600) && delays[20] == .seconds(1) && delays[21] == .seconds(2))
        #expect(delays[39] == .seconds(600))
    }

    @Test("The spread shortens a delay by half at most", arguments: [-1, 0, 0.5, 1, 2, .infinity] as [Double])
    func spread(_ value: Double) {
        var queue = TransferQueue()
        queue.add(1, priority: 0.5)
        _ = queue.next(at: start)
        let delay = queue.attemptFailed(1, progressed: false, at: start, spread: value)
        #expect(delay == .seconds(0.5 + 0.5 * min(max(value, 0), 1)))
    }

    @Test("A failure of a transfer that does not run has no effect")
    func lateFailure() {
        var queue = TransferQueue()
        queue.add(1, priority: 0.5)
        #expect(queue.attemptFailed(1, progressed: false, at: start, spread: 1) == nil)
        #expect(queue.attemptFailed(2, progressed: false, at: start, spread: 1) == nil)
        #expect(queue.next(at: start) == [1])
    }

    @Test("A clock that is set back prolongs no back-off")
    func clockSetBack() {
        var queue = TransferQueue()
        queue.add(1, priority: 0.5)
        _ = queue.next(at: start)
        queue.attemptFailed(1, progressed: false, at: start, spread: 1)
        let earlier = start - .seconds(86_400)
        #expect(queue.next(at: earlier).isEmpty)
        #expect(queue.wakeUp(at: earlier) == earlier + .seconds(1))
        #expect(queue.next(at: earlier + .seconds(1)) == [1])
    }

    @Test("A transfer waits for its beginning, also after a failure")
    func beginning() {
        var queue = TransferQueue()
        queue.add(1, priority: 0.5, beginning: start + .seconds(60))
        queue.add(2, priority: 0.5)
        #expect(queue.next(at: start) == [2])
        queue.attemptFailed(2, progressed: false, at: start, spread: 1)
        #expect(queue.wakeUp(at: start) == start + .seconds(1))
        #expect(queue.next(at: start + .seconds(59)) == [2])
        #expect(queue.wakeUp(at: start + .seconds(59)) == start + .seconds(60))
        #expect(queue.next(at: start + .seconds(60)) == [1])
    }

    @Test("A suspended transfer does not start, and takes no place while it runs")
    func suspension() {
        var queue = TransferQueue(limits: limits(running: 1))
        queue.add(1, priority: 0.5)
        queue.add(2, priority: 0.5)
        queue.setSuspended(true, 1)
        #expect(queue.next(at: start) == [2])
        queue.setSuspended(false, 1)
        #expect(queue.next(at: start).isEmpty)
        queue.setSuspended(true, 2)
        #expect(queue.next(at: start) == [1])
    }

    @Test("No transfer is lost or started twice in any order of events")
    func randomEvents() {
        var seed: UInt64 = 29
        func random(_ limit: UInt64) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((seed >> 33) % limit)
        }
        var queue = TransferQueue(limits: limits(running: 3))
        var (now, running, added) = (start, Set<Int>(), Set<Int>())
        for step in 0..<5_000 {
            switch random(5) {
            case 0:
                queue.add(step, priority: Float(random(5)) / 4)
                added.insert(step)
            case 1:
                guard let id = running.min() else { break }
                running.remove(id)
                queue.attemptFailed(id, progressed: random(2) == 0, at: now, spread: 1)
            case 2:
                guard let id = running.max() else { break }
                running.remove(id)
                queue.remove(id)
                added.remove(id)
            case 3: now += .seconds(random(100))
            default: now -= .seconds(random(50))
            }
            let next = queue.next(at: now)
            #expect(running.isDisjoint(with: next) && added.isSuperset(of: next))
            running.formUnion(next)
            #expect(running.count <= 3)
            if let wake = queue.wakeUp(at: now) { #expect(wake > now && wake <= now + .seconds(600)) }
        }
        // Time passes and running transfers end. In this way, all transfers must run sooner or later.
        while !added.isEmpty {
            for id in running {
                queue.remove(id)
                added.remove(id)
            }
            now += .seconds(600)
            running = Set(queue.next(at: now))
            #expect(!running.isEmpty || added.isEmpty)
            if running.isEmpty { break }
        }
        #expect(queue.isEmpty)
    }

    // MARK: Recovery

    struct Case: Sendable {
        var stage: TransferRecovery.Stage
        var size: Int64?
        var total: Int64? = 100
        var durable: Int64 = 0
        var isSameBoot = true
        var hasValidator = true
        var expected: TransferRecovery
    }

    @Test(
        "A new process delivers, resumes or starts over",
        arguments: [
            Case(stage: .created, expected: .startOver),
            Case(stage: .begun, size: 0, expected: .startOver),
            Case(stage: .begun, size: 10, expected: .resume(from: 10)),
            Case(stage: .begun, size: 10, total: 11, expected: .resume(from: 10)),
            // The process had received the last byte before it was killed. The new attempt requests the last byte
            // again.
            Case(stage: .begun, size: 10, total: 10, expected: .resume(from: 9)),
            Case(stage: .begun, size: 10, total: nil, expected: .resume(from: 9)),
            Case(stage: .begun, size: 1, total: nil, expected: .startOver),
            Case(stage: .begun, size: 10, total: 9, expected: .startOver),
            Case(stage: .begun, size: 10, total: -1, expected: .startOver),
            Case(stage: .begun, size: 10, hasValidator: false, expected: .startOver),
            Case(stage: .begun, size: 10, isSameBoot: false, expected: .startOver),
            Case(stage: .begun, size: 10, durable: 6, isSameBoot: false, expected: .resume(from: 6)),
            Case(stage: .begun, size: 10, durable: 16, isSameBoot: false, expected: .resume(from: 10)),
            Case(stage: .begun, size: 10, durable: -1, isSameBoot: false, expected: .startOver),
            Case(stage: .finished, size: 0, hasValidator: false, expected: .deliver),
            Case(stage: .finished, size: 10, isSameBoot: false, expected: .deliver),
            Case(stage: .finished, expected: .handedOver),
        ])
    func recovery(_ row: Case) {
        let facts = TransferRecovery.Facts(
            stage: row.stage, size: row.size, total: row.total, durable: row.durable, isSameBoot: row.isSameBoot,
            hasValidator: row.hasValidator)
        #expect(TransferRecovery(facts) == row.expected)
    }
}

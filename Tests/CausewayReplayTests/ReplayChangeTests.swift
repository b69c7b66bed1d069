import CausewayHTTPProtocols
import CausewayTestKit
import Testing

@Suite("Offline queue: changes by the program, and restarts")
struct ReplayChangeTests {
    @Test("Cancelling, editing and moving change the queue, and are in the journal")
    func changes() throws {
        let replay = Replay()
        let ids = (0..<4).map { _ in replay.add() }
        replay.advance()
        replay.perform(try replay.queue.move(ids[3], before: ids[1]))
        replay.perform(try replay.queue.cancel(ids[2], at: 5))
        let message = StoredMessage(method: "PUT", target: "edited", body: .inline([9]))
        replay.perform(try replay.queue.edit(ids[1], message, key: "other"))
        for isKilled in [false, true] {
            if isKilled { replay.kill() }
            let waiting = replay.queue.operations.map(\.operation.id)
            #expect(Array(waiting.suffix(2)) == [ids[3], ids[1]])
            #expect(
                replay.queue.operation(ids[1])?.message == message && replay.queue.operation(ids[1])?.key == "other")
            #expect(replay.outcomes[ids[2]] == .cancelled(mayHaveBeenSent: false))
        }
    }

    @Test("An operation that is being sent cannot be edited or overtaken; cancelling interrupts it")
    func busy() throws {
        let replay = Replay()
        let (a, b) = (replay.add(), replay.add())
        replay.advance()
        #expect(throws: ReplayRefusal.busy) {
            try replay.queue.edit(a, StoredMessage(method: "PUT", target: ""), key: "")
        }
        #expect(throws: ReplayRefusal.busy) { try replay.queue.move(b, before: a) }
        #expect(throws: ReplayRefusal.busy) { try replay.queue.move(a, before: nil) }
        #expect(throws: ReplayRefusal.unknown) { try replay.queue.cancel(99, at: 0) }
        let other = replay.add(lane: "other")
        #expect(throws: ReplayRefusal.otherLane) { try replay.queue.move(b, before: other) }
        let effects = try replay.queue.cancel(a, at: 0)
        #expect(effects.first == .interrupt(a))
        replay.perform(effects)
        #expect(replay.outcomes[a] == .cancelled(mayHaveBeenSent: true))
        // The attempt's end is reported only after the cancellation. It must change nothing.
        replay.end(a, .response(status: 200))
        #expect(replay.finished.count == 1 && replay.advance() == [b, other])
    }

    @Test("An operation that could not be stored does not exist; one that is not stored yet is not sent")
    func storing() throws {
        let replay = Replay()
        let joined = try replay.queue.enqueue { operation($0) }
        #expect(replay.advance().isEmpty)
        replay.queue.notStored(joined.id)
        #expect(replay.queue.count == 0)
        let next = try replay.queue.enqueue { operation($0) }
        #expect(next.id > joined.id)
        replay.queue.stored(next.id)
        #expect(replay.advance() == [next.id])
        // The queue could not store the start of the attempt, so nothing was sent. The attempt does not count.
        replay.end(next.id, .notSent)
        #expect(replay.queue.operation(next.id)?.progress.attempts == 0)
        replay.pass()
        #expect(replay.advance() == [next.id])
    }

    @Test("The limits of operations, bytes and reports hold")
    func limits() throws {
        var limits = OfflineLimits()
        (limits.operations, limits.totalByteCount, limits.reports) = (2, 5, 2)
        let replay = Replay(limits: limits)
        replay.add()
        #expect(throws: ReplayRefusal.self) { try replay.queue.enqueue { operation($0, body: .inline([1, 2, 3])) } }
        _ = try replay.queue.enqueue { operation($0, body: .reference(path: "/x", byteCount: 1_000, changed: 0)) }
        #expect(throws: ReplayRefusal.self) { try replay.queue.enqueue { operation($0, body: .none) } }
        let other = Replay(limits: limits)
        for _ in 0..<3 { other.perform(try other.queue.cancel(other.add(), at: 0)) }
        #expect(other.queue.reports.map(\.id) == [2, 3])
        other.perform(other.queue.acknowledge(2))
        #expect(other.queue.reports.map(\.id) == [3])
        other.kill()
        #expect(other.queue.reports.map(\.id) == [3])
    }

    @Test("A resolver's new request may not exceed the total size, and is released if it is not used")
    func rewriteLimits() throws {
        var limits = OfflineLimits()
        limits.totalByteCount = 10
        let replay = Replay({ $0.conflict = .ask }, limits: limits)
        func resolve(_ id: UInt64, _ body: StoredMessage.Body) -> [ReplayEffect] {
            let message = StoredMessage(method: "PUT", target: "new", body: body)
            return replay.queue.resolved(
                id, .rewrite(StoredRewrite(message: message, key: "new")), status: 409, at: replay.now, jitter: 1)
        }
        let (a, b) = (replay.add(), replay.add())
        replay.advance()
        replay.end(a, .response(status: 409))
        let large = StoredMessage.Body.file(name: "content-large", byteCount: 8)
        let effects = resolve(a, large)
        #expect(effects == [.store(.stopped(a, .refused(status: 409))), .release(large)])
        replay.perform(effects)
        #expect(replay.queue.phase(a) == .stopped(.refused(status: 409)))
        #expect(replay.queue.operation(a)?.message.body == .inline([1, 2, 3]) && replay.advance().isEmpty)
        // The size limit applies to the sum: 7 bytes here, and 3 bytes in the other operation.
        replay.perform(try replay.queue.resume(a))
        replay.advance()
        replay.end(a, .response(status: 409))
        let fitting = StoredMessage.Body.file(name: "content-fitting", byteCount: 7)
        #expect(resolve(a, fitting).last == .release(.inline([1, 2, 3])))
        #expect(replay.advance() == [a])
        // The operation is cancelled while the program's callback decides. So the new content belongs to no operation.
        replay.end(a, .response(status: 409))
        replay.perform(try replay.queue.cancel(a, at: 0))
        #expect(resolve(a, large) == [.release(large)])
        #expect(replay.advance() == [b])
    }

    @Test("If the limit is lower than the contents, a request may be replaced by one that is not larger")
    func loweredLimit() throws {
        let replay = Replay()
        let id = replay.add()
        var limits = OfflineLimits()
        limits.totalByteCount = 1
        var queue = ReplayQueue(limits: limits)
        _ = queue.recover(replay.records, at: replay.now)
        func message(_ count: Int) -> StoredMessage {
            StoredMessage(method: "PUT", target: "", body: .inline([UInt8](repeating: 0, count: count)))
        }
        #expect(throws: ReplayRefusal.self) { try queue.edit(id, message(4), key: "") }
        let effects = try queue.edit(id, message(3), key: "")
        #expect(effects.count == 2)
    }

    @Test("After damage, operations that may have been sent have an unknown fate")
    func damage() {
        let replay = Replay()
        let (a, b) = (replay.add(), replay.add(isIdempotent: true))
        var queue = ReplayQueue()
        let effects = queue.recover(replay.records, doubtful: 3, at: replay.now)
        let reports = effects.compactMap { if case .finish(let report) = $0 { report.id } else { nil } }
        #expect(reports == [a] && queue.operation(b)?.progress.attempts == 1)
    }

    /// The operations that a simulated server has received. This server does not check idempotency keys.
    private struct Seen {
        var arrivals: [UInt64: Int] = [:]
        var order: [String: [UInt64]] = [:]
    }

    @Test(
        "In any order of events and kills: one outcome, in order, at most once unless it may be repeated",
        arguments: 0..<150)
    func property(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let replay = Replay { $0.backoff = .init(base: .milliseconds(10), maximum: .seconds(1)) }
        var (seen, running, repeatable) = (Seen(), Set<UInt64>(), Set<UInt64>())
        var all: [UInt64] = []
        func send(_ ids: [UInt64]) {
            for id in ids {
                #expect(running.insert(id).inserted)
                guard let operation = replay.queue.operation(id), !random.chance(oneIn: 4) else { continue }
                seen.arrivals[id, default: 0] += 1
                if seen.arrivals[id] == 1 { seen.order[operation.lane, default: []].append(id) }
            }
        }
        for _ in 0..<200 {
            switch random.integer(in: 0...9) {
            case 0, 1:
                let isIdempotent = random.chance(oneIn: 2)
                let id = replay.add(
                    lane: "\(random.integer(in: 0...2))", isIdempotent: isIdempotent, maximumAttempts: 1_000)
                all.append(id)
                if isIdempotent { repeatable.insert(id) }
            case 2...4: send(replay.advance())
            case 5...7:
                guard let id = running.randomElement(using: &random) else { continue }
                running.remove(id)
                let hasArrived = seen.arrivals[id] != nil
                let ends: [AttemptEnd] =
                    hasArrived
                    ? [.response(status: 200), .lost, .response(status: 502)] : [.noWay, .lost, .notSent]
                replay.end(id, ends[random.integer(in: 0...2)], jitter: 1)
            case 8: replay.pass()
            default:
                guard random.chance(oneIn: 3) else { continue }
                running = []
                replay.kill()
            }
        }
        // Now end the test without further disturbances. The queue must send everything that is left.
        for _ in 0..<20_000 where replay.queue.count > 0 {
            for id in running { replay.end(id, .response(status: 200)) }
            running = []
            replay.pass()
            send(replay.advance())
        }
        #expect(replay.queue.count == 0)
        #expect(replay.finished.map(\.id).sorted() == all.sorted())
        for id in all where !repeatable.contains(id) {
            // Some operations end with status 200, although no request was sent to their server. For these operations,
            // the server saw no arrival.
            #expect(seen.arrivals[id] ?? 0 <= 1)
        }
        for order in seen.order.values { #expect(order == order.sorted()) }
    }
}

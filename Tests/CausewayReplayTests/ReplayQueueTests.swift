import CausewayHTTPProtocols
import CausewayTestKit
import Testing

@Suite("Offline queue: order, waits and the end of operations")
struct ReplayQueueTests {
    @Test("O5: operations of a lane are sent one after the other, and lanes are independent")
    func order() {
        let replay = Replay()
        let (a, b, c) = (replay.add(lane: "x"), replay.add(lane: "x"), replay.add(lane: "y"))
        #expect(replay.advance() == [a, c])
        #expect(replay.advance().isEmpty)
        replay.succeed(a)
        #expect(replay.advance() == [b])
        replay.succeed(b)
        replay.succeed(c)
        #expect(replay.queue.count == 0 && replay.finished.map(\.id) == [a, b, c])
        #expect(replay.finished.allSatisfy { $0.outcome == .succeeded(status: 200) } && replay.queue.reports.isEmpty)
    }

    @Test("The number of lanes that send at the same time is limited; the oldest come first")
    func activeLanes() {
        var limits = OfflineLimits()
        limits.activeLanes = 2
        let replay = Replay(limits: limits)
        let ids = (0..<5).map { replay.add(lane: "\(9 - $0)") }
        #expect(replay.advance() == Array(ids[..<2]))
        replay.succeed(ids[1])
        #expect(replay.advance() == [ids[2]])
    }

    @Test("O5: without a way, operations wait, and only one tests the way, with back-off")
    func noWay() {
        let replay = Replay { $0.backoff = .init(base: .seconds(1), maximum: .seconds(8)) }
        let ids = (0..<3).map { replay.add(lane: "\($0)") }
        #expect(replay.advance() == ids)
        for id in ids { replay.end(id, .noWay) }
        var waits: [Duration?] = []
        for _ in 0..<5 {
            #expect(replay.advance().isEmpty)
            waits.append(replay.pass())
            #expect(replay.advance() == [ids[0]])
            replay.end(ids[0], .noWay)
        }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(8)])
        replay.pass()
        #expect(replay.advance() == [ids[0]])
        replay.succeed(ids[0])
        // The server is reachable again, so the other operations follow at once. Attempts without a network path were
        // not counted.
        #expect(replay.advance() == [ids[1], ids[2]])
        #expect(replay.queue.operation(ids[1])?.progress.attempts == 0)
    }

    @Test("While one operation probes the server, the others await its end and no time that has passed")
    func probing() {
        let replay = Replay { $0.backoff = .init(base: .seconds(4), maximum: .seconds(8)) }
        let (probe, other) = (replay.add(lane: "a"), replay.add(lane: "b", isIdempotent: true))
        replay.advance()
        replay.end(probe, .noWay)
        replay.end(other, .lost)
        #expect(replay.pass() == .seconds(4) && replay.advance() == [probe])
        #expect(replay.queue.deadline == nil)
        replay.end(probe, .noWay)
        #expect(replay.queue.deadline == .seconds(12) && replay.advance().isEmpty)
        #expect(replay.pass() == .seconds(8) && replay.advance() == [probe])
        replay.succeed(probe)
        #expect(replay.advance() == [other])
    }

    @Test("RE5: a first attempt waits neither for reachability nor for the failure of another operation")
    func firstAttempt() {
        let replay = Replay()
        replay.queue.networkChanged(isReachable: false, at: replay.now)
        let a = replay.add(lane: "a")
        #expect(replay.advance() == [a])
        replay.end(a, .noWay)
        let b = replay.add(lane: "b")
        #expect(replay.advance() == [b])
    }

    @Test("A network that comes back ends the wait")
    func reachable() {
        let replay = Replay()
        let id = replay.add()
        replay.advance()
        replay.end(id, .noWay)
        #expect(replay.advance().isEmpty)
        replay.queue.networkChanged(isReachable: false, at: replay.now)
        #expect(replay.advance().isEmpty)
        replay.queue.networkChanged(isReachable: true, at: replay.now)
        #expect(replay.advance() == [id])
    }

    @Test("Statuses that say later are repeated after the back-off and at least Retry-After, and then expire")
    func repeated() {
        let replay = Replay { $0.backoff = .init(base: .seconds(1), maximum: .seconds(60)) }
        let id = replay.add(maximumAttempts: 3)
        replay.advance()
        replay.end(id, .response(status: 503, retryAfter: .seconds(20)), jitter: 0)
        #expect(replay.pass() == .seconds(20) && replay.advance() == [id])
        replay.end(id, .response(status: 429), jitter: 0)
        #expect(replay.pass() == .seconds(1) && replay.advance() == [id])
        replay.end(id, .response(status: 503))
        #expect(replay.outcomes[id] == .expired(.attempts) && replay.queue.reports.map(\.attempts) == [3])
    }

    @Test("An attempt that the server refused before it could not be reached counts, and tests the way with back-off")
    func noWayAfterRefusal() {
        let replay = Replay { $0.backoff = .init(base: .seconds(4), maximum: .seconds(8)) }
        let id = replay.add(maximumAttempts: 2)
        replay.advance()
        replay.end(id, .noWayAfterRefusal)
        #expect(!replay.queue.hasWay && replay.queue.operation(id)?.progress.attempts == 1)
        #expect(replay.advance().isEmpty && replay.pass() == .seconds(4) && replay.advance() == [id])
        replay.end(id, .noWayAfterRefusal)
        #expect(replay.outcomes == [id: .expired(.attempts)])
    }

    @Test("O5: an operation that becomes too old ends with a report at that time, also behind others")
    func age() {
        let replay = Replay()
        let first = replay.add(maximumAge: 0)
        let (old, young) = (replay.add(maximumAge: 5_000), replay.add(maximumAge: 60_000))
        replay.advance()
        replay.end(first, .noWay)
        while replay.clock.now.offset < .seconds(5) {
            replay.pass()
            if replay.advance() == [first] { replay.end(first, .noWay) }
        }
        #expect(replay.clock.now.offset == .seconds(5))
        #expect(replay.outcomes == [old: .expired(.age)] && replay.queue.operation(young) != nil)
    }

    struct Fate: Sendable, CustomTestStringConvertible {
        var fate: OfflinePolicy.UnknownFate
        var isIdempotent: Bool
        var honorsKeys = false
        /// The outcome that the test expects. `nil` if the operation must be sent again.
        var outcome: OfflineOutcome?
        var stops = false
        var testDescription: String { "\(fate), idempotent \(isIdempotent), keys \(honorsKeys)" }
    }

    static let fates = [
        Fate(fate: .replayIfIdempotent, isIdempotent: true),
        Fate(fate: .replayIfIdempotent, isIdempotent: false, honorsKeys: true),
        Fate(fate: .replayIfIdempotent, isIdempotent: false, outcome: .unknown),
        Fate(fate: .replay, isIdempotent: false), Fate(fate: .report, isIdempotent: true, outcome: .unknown),
        Fate(fate: .stop, isIdempotent: true, stops: true),
    ]

    @Test("O5: an operation of unknown fate is replayed, reported or held, as the policy says", arguments: fates)
    func unknown(_ row: Fate) {
        for isKilled in [false, true] {
            let replay = Replay {
                $0.unknownFate = row.fate
                $0.serverHonorsKeys = row.honorsKeys
            }
            let (id, next) = (replay.add(isIdempotent: row.isIdempotent), replay.add())
            #expect(replay.advance() == [id])
            if isKilled { replay.kill() } else { replay.end(id, .lost) }
            #expect(replay.outcomes[id] == row.outcome)
            if row.stops {
                #expect(replay.queue.phase(id) == .stopped(.unknownFate))
                #expect(replay.advance().isEmpty)
                replay.perform((try? replay.queue.resume(id)) ?? [])
                #expect(replay.advance() == [id])
            } else {
                if !isKilled, row.outcome == nil { replay.pass() }
                #expect(replay.advance() == [row.outcome == nil ? id : next])
                #expect(replay.queue.operation(id)?.progress.attempts ?? 1 == 1)
            }
        }
    }

    @Test(
        "Statuses that prove neither success nor failure have an unknown fate; others are refusals",
        arguments: [
            (500, OfflineOutcome.rejected(status: 500)), (502, .unknown), (504, .unknown),
            (501, .rejected(status: 501)),
            (404, .rejected(status: 404)), (409, .conflicted(status: 409)), (412, .conflicted(status: 412)),
            (304, .succeeded(status: 304)),
        ])
    func statuses(_ status: Int, _ outcome: OfflineOutcome) {
        let replay = Replay()
        let id = replay.add()
        replay.advance()
        replay.end(id, .response(status: status))
        #expect(replay.outcomes[id] == outcome)
    }

    @Test("401, 407 and 511 stop the lane until the program resumes it", arguments: [401, 407, 511])
    func stopping(_ status: Int) throws {
        let replay = Replay()
        let (id, other) = (replay.add(lane: "a"), replay.add(lane: "b"))
        replay.advance()
        replay.end(id, .response(status: status))
        replay.succeed(other)
        #expect(replay.queue.phase(id) == .stopped(.refused(status: status)) && replay.advance().isEmpty)
        replay.kill()
        #expect(replay.queue.phase(id) == .stopped(.refused(status: status)))
        replay.perform(try replay.queue.resume(id))
        #expect(replay.advance() == [id])
    }

    @Test("O5: conflicts are dropped, stop the lane, or are rewritten by the resolver with a new key")
    func conflicts() throws {
        let replay = Replay { $0.conflict = .ask }
        let (id, next) = (replay.add(), replay.add())
        replay.advance()
        replay.end(id, .response(status: 412))
        #expect(replay.asked == [id] && replay.queue.phase(id) == .asking && replay.advance().isEmpty)
        let message = StoredMessage(method: "PUT", target: "other")
        replay.perform(
            replay.queue.resolved(
                id, .rewrite(StoredRewrite(message: message, key: "new")), status: 412, at: replay.now, jitter: 1))
        #expect(replay.advance() == [id] && replay.queue.operation(id)?.key == "new")
        #expect(replay.queue.operation(id)?.message == message)
        replay.end(id, .response(status: 409))
        replay.perform(replay.queue.resolved(id, .retry, status: 409, at: replay.now, jitter: 1))
        replay.pass()
        #expect(replay.advance() == [id])
        replay.end(id, .response(status: 409))
        replay.perform(replay.queue.resolved(id, .drop, status: 409, at: replay.now, jitter: 1))
        #expect(replay.outcomes[id] == .conflicted(status: 409) && replay.advance() == [next])
        // The process is killed while the program's callback decides about the conflict. Afterwards, the queue sends
        // the operation again and asks the callback again.
        replay.end(next, .response(status: 409))
        replay.kill()
        #expect(replay.advance() == [next])
    }
}

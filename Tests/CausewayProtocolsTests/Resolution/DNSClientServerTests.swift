import CausewayTestKit
import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("DNS client and failing servers")
struct DNSClientServerTests {
    let name: DNSName = "www.example.com"

    @Test("The next server is queried after a second of silence, and a late answer still counts")
    func asksNext() {
        let desk = DNSDesk([DNSRig.first, DNSRig.second])
        let id = desk.ask(name)
        desk.advance(to: .milliseconds(999))
        #expect(desk.sent.map(\.server) == [DNSRig.first])
        desk.advance(to: .milliseconds(1_000))
        #expect(desk.sent.map(\.server) == [DNSRig.first, DNSRig.second])
        desk.now = .milliseconds(1_200)
        desk.receive(
            DNSRig.response(to: desk.sent[0].bytes, answers: [DNSRig.a(name, 1)]), for: desk.sent[0].exchange)
        #expect(desk.answers[id]?.server == DNSRig.first)
        #expect(desk.openCount == 0)
    }

    // RFC 8305 §3.1.
    @Test("A silent server is queried last for a while, then tried again with a short timeout")
    func backsOff() {
        let desk = DNSDesk([DNSRig.first, DNSRig.second])
        _ = desk.ask(name)
        desk.advance(to: .seconds(1))
        desk.answer(.noError, [DNSRig.a(name, 1)])
        // After a timeout of the first server, the client queries this server last for five seconds.
        _ = desk.ask("b.example")
        #expect(desk.sent.last?.server == DNSRig.second)
        desk.answer(.noError, [DNSRig.a("b.example", 1)])
        desk.advance(to: .seconds(7))
        let count = desk.sent.count
        _ = desk.ask("c.example")
        #expect(desk.sent.last?.server == DNSRig.first)
        desk.advance(to: .milliseconds(7_399))
        #expect(desk.sent.count == count + 1)
        desk.advance(to: .milliseconds(7_400))
        #expect(desk.sent.last?.server == DNSRig.second)
    }

    @Test("The timeout of a known server depends on its response times")
    func adapts() {
        let desk = DNSDesk([DNSRig.first, DNSRig.second])
        for number in 0..<20 {
            _ = desk.ask(DNSName("n\(number).example") ?? .root)
            desk.now += .milliseconds(2)
            desk.answer(.nameError)
        }
        let start = desk.now
        let count = desk.sent.count
        _ = desk.ask(name)
        desk.advance(to: start + .milliseconds(199))
        #expect(desk.sent.count == count + 1)
        desk.advance(to: start + .milliseconds(200))
        #expect(desk.sent.count == count + 2)
    }

    @Test(
        "A server that reports a failure is left at once",
        arguments: [DNSResponseCode.serverFailure, .refused, .notImplemented])
    func leaves(_ code: DNSResponseCode) {
        let desk = DNSDesk([DNSRig.first, DNSRig.second]) { $0.attempts = 1 }
        let id = desk.ask(name)
        desk.answer(code) { $0.extensions = DNSExtensions(payloadByteCount: 1_232) }
        #expect(desk.sent.map(\.server) == [DNSRig.first, DNSRig.second])
        #expect(desk.answers.isEmpty)
        desk.answer(code) { $0.extensions = DNSExtensions(payloadByteCount: 1_232) }
        #expect(desk.answers[id]?.finding == .failed(.code(code.rawValue)))
    }

    @Test(
        "Silence of all servers ends the query: each is tried as often as configured, the last one with its full timeout"
    )
    func timesOut() {
        let desk = DNSDesk([DNSRig.first, DNSRig.second]) { options in
            options.attempts = 2
            options.timeout = .seconds(3)
        }
        let id = desk.ask(name)
        desk.advance(to: .seconds(60))
        #expect(desk.sent.map(\.server) == [DNSRig.first, DNSRig.second, DNSRig.first, DNSRig.second])
        #expect(desk.answers[id]?.finding == .failed(.timedOut))
        // In the first round, the timeout is one second for each server. In the second round, it is two seconds for the
        // first server and three seconds for the last.
        #expect(desk.answers[id]?.duration == .seconds(1 + 1 + 2 + 3))
        #expect(desk.openCount == 0)
    }

    @Test("Unreachable servers are skipped, and named as the reason")
    func unreachable() {
        let desk = DNSDesk([DNSRig.first, DNSRig.second]) { $0.attempts = 1 }
        let id = desk.ask(name)
        desk.take(desk.client.failed(desk.sent[0].exchange, because: .unreachable, at: desk.now))
        #expect(desk.sent.count == 2)
        desk.take(desk.client.failed(desk.sent[1].exchange, because: .unreachable, at: desk.now))
        #expect(desk.answers[id]?.finding == .failed(.unreachable))
    }

    @Test("Without servers the query fails at once")
    func noServers() {
        let desk = DNSDesk([])
        let id = desk.ask(name)
        #expect(desk.answers[id]?.finding == .failed(.unreachable))
    }

    @Test("Queries rotate over the servers if configured")
    func rotates() {
        let desk = DNSDesk([DNSRig.first, DNSRig.second]) { $0.rotates = true }
        for number in 0..<4 { _ = desk.ask(DNSName("n\(number).example") ?? .root) }
        #expect(Set(desk.sent.map(\.server)).count == 2)
        #expect(desk.sent[0].server != desk.sent[1].server)
    }

    @Test("Ten thousand concurrent queries: the number of open exchanges is limited, and all are answered")
    func bounded() {
        let desk = DNSDesk()
        for number in 0..<10_000 { _ = desk.ask(DNSName("n\(number).example") ?? .root) }
        #expect(desk.openCount == DNSClient.burst)
        var position = 0
        while position < desk.sent.count {
            let sent = desk.sent[position]
            desk.receive(DNSRig.response(to: sent.bytes, .nameError), for: sent.exchange)
            position += 1
        }
        #expect(desk.answers.count == 10_000)
        #expect(desk.isIdle)
    }

    @Test("Waiting queries can be cancelled, and those after them continue")
    func cancelledWhileWaiting() {
        let desk = DNSDesk()
        let ids = (0..<1_000).map { desk.ask(DNSName("n\($0).example") ?? .root) }
        let (waiting, last) = (ids[DNSClient.burst..<999], ids[999])
        for id in waiting { desk.take(desk.client.cancel(id, at: desk.now)) }
        desk.advance(to: desk.now + DNSClient.pause)
        #expect(desk.openCount == DNSClient.burst + 1)
        for sent in desk.sent { desk.receive(DNSRig.response(to: sent.bytes, .nameError), for: sent.exchange) }
        #expect(desk.answers.count == DNSClient.burst + 1 && desk.answers[last] != nil)
        #expect(waiting.allSatisfy { desk.answers[$0] == nil })
        #expect(desk.isIdle && desk.nextDeadline == nil)
    }

    @Test("A silent server delays each query a moment, and never gets more queries than the limit")
    func silence() {
        let desk = DNSDesk()
        for number in 0..<10_000 { _ = desk.ask(DNSName("n\(number).example") ?? .root) }
        for step in 1...3 {
            desk.advance(to: desk.now + DNSClient.pause)
            #expect(desk.openCount == (step + 1) * DNSClient.burst)
        }
        for _ in 0..<2_000 where !desk.isIdle {
            desk.advance(to: desk.now + .milliseconds(100))
            #expect(desk.openCount <= 4_096)
        }
        #expect(desk.isIdle)
        #expect(desk.answers.values.allSatisfy { $0.finding == .failed(.timedOut) })
        #expect(desk.answers.count == 10_000)
    }

    @Test("In any order of events, every query completes once, and no state is left over", arguments: 0..<300)
    func property(seed: Int) {
        var numbers = SplitMix64(seed: UInt64(seed) &* 77)
        let desk = DNSDesk([DNSRig.first, DNSRig.second], seed: UInt64(seed))
        var asked: Set<DNSClient.QuestionID> = []
        var cancelled: Set<DNSClient.QuestionID> = []
        for _ in 0..<60 {
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0...2: asked.insert(desk.ask(DNSName("n\(Int.random(in: 0..<9, using: &numbers)).example") ?? .root))
            case 3:
                if let id = asked.randomElement(using: &numbers) {
                    desk.take(desk.client.cancel(id, at: desk.now))
                    if desk.answers[id] == nil { cancelled.insert(id) }
                }
            case 4:
                if let sent = desk.sent.randomElement(using: &numbers) {
                    desk.take(
                        desk.client.failed(
                            sent.exchange, because: .random(using: &numbers) ? .unreachable : .connectionRefused,
                            at: desk.now))
                }
            case 5: desk.advance(to: desk.now + .milliseconds(Int.random(in: 0...2_000, using: &numbers)))
            default:
                guard let sent = desk.sent.randomElement(using: &numbers) else { continue }
                let code =
                    [DNSResponseCode.noError, .nameError, .serverFailure, .formatError].randomElement(using: &numbers)
                    ?? .noError
                let truncated = Int.random(in: 0..<4, using: &numbers) == 0
                let bytes = DNSRig.response(to: sent.bytes, code) { if truncated { $0.flags.insert(.isTruncated) } }
                desk.receive(bytes, for: sent.exchange)
            }
        }
        desk.advance(to: desk.now + .seconds(120))
        #expect(Set(desk.answers.keys).union(cancelled) == asked)
        #expect(Set(desk.answers.keys).isDisjoint(with: cancelled))
        #expect(desk.openCount == 0)
        #expect(desk.isIdle)
        #expect(desk.nextDeadline == nil)
    }
}

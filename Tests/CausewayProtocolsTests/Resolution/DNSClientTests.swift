import CausewayTestKit
import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@Suite("DNS client")
struct DNSClientTests {
    let name: DNSName = "www.example.com"

    @Test("An answer ends the query, and no exchange stays open")
    func answers() {
        let desk = DNSDesk()
        let id = desk.ask(name)
        desk.now = .milliseconds(30)
        desk.answer(.noError, [DNSRig.a(name, 1, timeToLive: 77), DNSRig.a(name, 2)])
        #expect(desk.answers[id]?.records.count == 2)
        #expect(desk.answers[id]?.timeToLive == .seconds(77))
        #expect(desk.answers[id]?.server == DNSRig.first)
        #expect(desk.answers[id]?.duration == .milliseconds(30))
        #expect(desk.openCount == 0)
        #expect(desk.isIdle)
        #expect(desk.nextDeadline == nil)
    }

    @Test("Messages have random IDs and case, announce EDNS(0) and ask for recursion")
    func queries() throws {
        var ids: Set<UInt16> = []
        var spellings: Set<String> = []
        let desk = DNSDesk()
        for number in 0..<64 {
            _ = desk.ask(try #require(DNSName("host\(number).example")), .aaaa)
            let bytes = try #require(desk.sent.last).bytes
            let message = try DNSRig.message(bytes)
            ids.insert(message.id)
            spellings.insert(message.questions[0].name.droppingFirst().description)
            #expect(message.flags == .recursionDesired)
            #expect(message.extensions?.payloadByteCount == 1_232)
        }
        #expect(ids.count == 64)
        #expect(spellings.count > 32)
    }

    @Test("Equal queries are sent once")
    func joins() {
        let desk = DNSDesk()
        let one = desk.ask(name)
        let two = desk.ask("WWW.example.COM")
        let other = desk.ask(name, .aaaa)
        #expect(desk.sent.count == 2)
        desk.receive(
            DNSRig.response(to: desk.sent[0].bytes, answers: [DNSRig.a(name, 1)]), for: desk.sent[0].exchange)
        #expect(desk.answers[one] == desk.answers[two])
        #expect(desk.answers[one] != nil)
        #expect(desk.answers[other] == nil)
    }

    @Test("Equal questions of different cache partitions are sent separately, for example of different networks")
    func partitions() {
        let desk = DNSDesk()
        let ids = ([0, 1, 1] as [UInt64]).map { desk.ask(name, in: $0) }
        #expect(desk.sent.count == 2)
        desk.receive(
            DNSRig.response(to: desk.sent[0].bytes, answers: [DNSRig.a(name, 1)]), for: desk.sent[0].exchange)
        #expect(Set(desk.answers.keys) == [ids[0]])
        desk.answer(.noError, [DNSRig.a(name, 2)])
        #expect(desk.answers[ids[1]]?.records == [DNSRig.a(name, 2)] && desk.answers[ids[2]] == desk.answers[ids[1]])
        #expect(desk.isIdle && desk.openCount == 0)
    }

    @Test("A question after a change of the servers does not get the answer of an earlier one from the old servers")
    func newServers() {
        let desk = DNSDesk()
        let (early, cancelled) = (desk.ask(name), desk.ask(name))
        desk.client.use([DNSRig.second], .init())
        let late = desk.ask(name)
        #expect(desk.sent.map(\.server) == [DNSRig.first, DNSRig.second])
        desk.take(desk.client.cancel(cancelled, at: desk.now))
        desk.receive(
            DNSRig.response(to: desk.sent[0].bytes, answers: [DNSRig.a(name, 1)]), for: desk.sent[0].exchange)
        #expect(Set(desk.answers.keys) == [early])
        // The early query has ended. Another question for the same name can still join the late query.
        let joined = desk.ask(name)
        desk.answer(.noError, [DNSRig.a(name, 2)])
        #expect(desk.answers[late]?.records == [DNSRig.a(name, 2)] && desk.answers[joined] == desk.answers[late])
        #expect(desk.sent.count == 2 && desk.isIdle && desk.openCount == 0)
    }

    @Test("A query is cancelled with its last caller")
    func cancels() {
        let desk = DNSDesk()
        let one = desk.ask(name)
        let two = desk.ask(name)
        desk.take(desk.client.cancel(one, at: desk.now))
        #expect(desk.openCount == 1)
        desk.take(desk.client.cancel(two, at: desk.now))
        #expect(desk.openCount == 0)
        #expect(desk.isIdle)
        desk.answer(.noError, [DNSRig.a(name, 1)])
        #expect(desk.answers.isEmpty)
    }

    // MARK: Invalid answers

    struct Forgery: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var change: @Sendable (inout DNSMessage) -> Void
    }

    static let forgeries = [
        Forgery(testDescription: "another ID") { $0.id &+= 1 },
        Forgery(testDescription: "no response") { $0.flags.remove(.isResponse) },
        Forgery(testDescription: "another name") { $0.questions[0].name = "evil.example" },
        Forgery(testDescription: "another type") { $0.questions[0].type = .txt },
        Forgery(testDescription: "no question") { $0.questions = [] },
        Forgery(testDescription: "two questions") { $0.questions.append($0.questions[0]) },
        Forgery(testDescription: "another operation") { $0.operation = 5 },
    ]

    @Test("An answer to another question is ignored", arguments: forgeries)
    func passesOver(_ forgery: Forgery) {
        let desk = DNSDesk()
        let id = desk.ask(name)
        desk.answer(.noError, [DNSRig.a(name, 66)], change: forgery.change)
        #expect(desk.answers.isEmpty)
        #expect(desk.openCount == 1)
        desk.answer(.noError, [DNSRig.a(name, 1)])
        #expect(desk.answers[id]?.records == [DNSRig.a(name, 1)])
    }

    @Test("Invalid data is ignored", arguments: 0..<200)
    func survivesGarbage(seed: Int) {
        let desk = DNSDesk()
        _ = desk.ask(name)
        var numbers = SplitMix64(seed: UInt64(seed))
        let sent = desk.sent[0]
        var bytes = DNSRig.response(to: sent.bytes, answers: [DNSRig.a(name, 1), DNSRig.alias("x.example", name)])
        for _ in 0..<Int.random(in: 1...12, using: &numbers) {
            bytes[Int.random(in: 2..<bytes.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
        }
        desk.receive(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &numbers))), for: sent.exchange)
        desk.advance(to: .seconds(60))
        #expect(desk.answers.count == 1)
        #expect(desk.isIdle)
    }

    @Test("An answer in which the case of the name differs is repeated over TCP, which cannot be forged easily")
    func fallsBackToTCPForCase() {
        let desk = DNSDesk()
        let id = desk.ask(name)
        desk.answer(.noError, [DNSRig.a(name, 66)]) { $0.questions[0].name = "www.example.com" }
        #expect(desk.answers.isEmpty)
        #expect(desk.sent.map(\.carrier) == [.udp, .tcp])
        desk.answer(.noError, [DNSRig.a(name, 1)])
        #expect(desk.answers[id]?.carrier == .tcp)
    }

    @Test("A flood of forged answers has no effect, and the right answer after it counts")
    func flooded() {
        let desk = DNSDesk()
        let id = desk.ask(name)
        let sent = desk.sent[0]
        let right = DNSRig.response(to: sent.bytes, answers: [DNSRig.a(name, 1)])
        for number in 0..<65_536 where UInt16(number) != UInt16(sent.bytes[0]) << 8 | UInt16(sent.bytes[1]) {
            var forged = DNSRig.forged
            (forged[0], forged[1]) = (UInt8(number >> 8), UInt8(number & 0xFF))
            let actions = desk.client.received(forged, for: sent.exchange, at: desk.now)
            #expect(actions.isEmpty)
        }
        #expect(desk.sent.count == 1 && desk.openCount == 1)
        desk.receive(right, for: sent.exchange)
        #expect(desk.answers[id]?.records == [DNSRig.a(name, 1)])
    }

    @Test("Names that point to the question are returned in the case that the caller used")
    func respells() throws {
        let desk = DNSDesk()
        let zone: DNSName = "Made.eXample"
        let id = desk.ask(zone, .ns)
        let thrown = try DNSRig.message(desk.sent[0].bytes).questions[0].name
        #expect(!thrown.isIdentical(to: zone))
        let compressed = try #require(DNSName("NS1", in: thrown))
        let whole: DNSName = "NS2.MADE.EXAMPLE"
        desk.answer(
            .noError,
            [compressed, whole].map { DNSRecord(thrown, .ns, timeToLive: 60, .name($0)) })
        let records = try #require(desk.answers[id]).records
        #expect(records.map(\.name.description) == ["Made.eXample.", "Made.eXample."])
        #expect(records.map(\.data) == [.name(compressed), .name(whole)])
        let targets = records.compactMap { if case .name(let name) = $0.data { name.description } else { nil } }
        #expect(targets == ["NS1.Made.eXample.", "NS2.MADE.EXAMPLE."], "the server's own case is kept")
    }

    @Test("A truncated answer is repeated over TCP at the same server")
    func fallsBackToTCP() {
        let desk = DNSDesk([DNSRig.first, DNSRig.second])
        let id = desk.ask(name)
        desk.answer(.noError, [DNSRig.a(name, 1)]) { $0.flags.insert(.isTruncated) }
        #expect(desk.sent.map(\.carrier) == [.udp, .tcp])
        #expect(desk.sent[1].server == DNSRig.first)
        desk.answer(.noError, (1...40).map { DNSRig.a(name, $0) })
        #expect(desk.answers[id]?.records.count == 40)
    }

    @Test("Only TCP is used if configured")
    func usesTCP() {
        let desk = DNSDesk { $0.usesTCP = true }
        _ = desk.ask(name)
        #expect(desk.sent.map(\.carrier) == [.tcp])
    }

    @Test("A server without EDNS(0) is queried without it, now and later")
    func withoutExtensions() throws {
        let desk = DNSDesk()
        let id = desk.ask(name)
        desk.answer(.formatError) { $0.questions = [] }
        #expect(desk.sent.count == 2)
        let again = try DNSRig.message(desk.sent[1].bytes)
        #expect(again.extensions == nil)
        desk.answer(.noError, [DNSRig.a(name, 1)])
        #expect(desk.answers[id]?.records.count == 1)
        _ = desk.ask("other.example")
        #expect(try DNSRig.message(desk.sent[2].bytes).extensions == nil)
    }

    // MARK: Aliases

    @Test("Aliases within a message are followed, and the lowest TTL counts")
    func followsAliases() {
        let desk = DNSDesk()
        let id = desk.ask(name)
        desk.answer(
            .noError,
            [
                DNSRig.a("c.example", 1, timeToLive: 900), DNSRig.alias("b.example", "c.example", timeToLive: 60),
                DNSRig.alias(name, "b.example"),
            ])
        #expect(desk.answers[id]?.canonicalName == "c.example")
        #expect(desk.answers[id]?.records.count == 1)
        #expect(desk.answers[id]?.timeToLive == .seconds(60))
        #expect(desk.answers[id]?.aliases.count == 2)
    }

    @Test("An alias target that the server omits is queried")
    func asksForAliases() throws {
        let desk = DNSDesk()
        let id = desk.ask(name)
        desk.answer(.noError, [DNSRig.alias(name, "b.example", timeToLive: 20)])
        #expect(desk.sent.count == 2)
        #expect(try DNSRig.message(desk.sent[1].bytes).questions[0].name == "b.example")
        desk.answer(.noError, [DNSRig.a("b.example", 1)])
        #expect(desk.answers[id]?.canonicalName == "b.example")
        #expect(desk.answers[id]?.timeToLive == .seconds(20))
    }

    @Test("A truncated answer for an earlier name is not the answer for the alias target")
    func forgetsTruncatedAnswer() {
        let desk = DNSDesk()
        let id = desk.ask(name)
        desk.answer(.noError, [DNSRig.a(name, 1)]) { $0.flags.insert(.isTruncated) }
        desk.answer(.noError, [DNSRig.alias(name, "b.example")])
        #expect(desk.answers[id] == nil)
        desk.advance(to: .seconds(60))
        #expect(desk.answers[id]?.finding == .failed(.timedOut))
    }

    @Test("Loops of aliases, in one message or several, end")
    func endsCircles() throws {
        let desk = DNSDesk()
        let one = desk.ask(name)
        desk.answer(.noError, [DNSRig.alias(name, "b.example"), DNSRig.alias("b.example", name)])
        #expect(desk.answers[one]?.finding == .failed(.aliasLoop))

        let two = desk.ask("start.example")
        for number in 0..<20 where desk.answers[two] == nil {
            let asked = try DNSRig.message(try #require(desk.sent.last).bytes).questions[0].name
            desk.answer(.noError, [DNSRig.alias(asked, try #require(DNSName("hop\(number).example")))])
        }
        #expect(desk.answers[two]?.finding == .failed(.aliasLoop))
        #expect(desk.sent.count <= 12)
    }

    // MARK: Negative answers

    @Test("A negative answer may be cached as long as the SOA record allows (RFC 2308 §5)")
    func negative() {
        let desk = DNSDesk()
        let gone = desk.ask(name)
        desk.answer(.nameError, authorities: [DNSRig.authority("example.com", minimum: 60)])
        #expect(desk.answers[gone]?.finding == .noSuchName)
        #expect(desk.answers[gone]?.timeToLive == .seconds(60))

        let empty = desk.ask(name, .aaaa)
        desk.answer(.noError, authorities: [DNSRig.authority("example.com", minimum: 900_000, timeToLive: 900_000)])
        #expect(desk.answers[empty]?.finding == .noSuchRecord)
        #expect(desk.answers[empty]?.timeToLive == .seconds(10_800))

        let unsure = desk.ask("other.example")
        desk.answer(.nameError)
        #expect(desk.answers[unsure]?.timeToLive == .zero)
    }

    @Test("A referral is not an answer")
    func referral() {
        let desk = DNSDesk([DNSRig.first, DNSRig.second])
        _ = desk.ask(name)
        desk.answer(
            .noError, authorities: [DNSRecord("example.com", .ns, timeToLive: 60, .name("ns.example.com"))]
        ) { $0.flags.remove(.recursionAvailable) }
        #expect(desk.sent.map(\.server) == [DNSRig.first, DNSRig.second])
    }
}

import CausewayProtocols
import CausewayTestKit
import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("HTTP/2: parts of the machine")
struct HTTP2PartTests {
    private func stream(_ id: HTTP2StreamID) -> HTTP2Stream {
        HTTP2Stream(
            id: id, sending: .head, receiving: .head, receiveWindow: HTTP2ReceiveWindow(size: 0), sendWindow: Int(id))
    }

    @Test("The table agrees with a dictionary", arguments: 0..<50)
    func table(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var table = HTTP2StreamTable()
        var expected: [HTTP2StreamID: Int] = [:]
        var next: HTTP2StreamID = 1
        for _ in 0..<500 {
            if random.chance(oneIn: 2) || expected.isEmpty {
                table.insert(stream(next))
                expected[next] = Int(next)
                next += random.chance(oneIn: 4) ? HTTP2StreamID(random.integer(in: 1...40) * 2) : 2
            } else if let id = expected.keys.sorted().randomElement(using: &random) {
                if random.chance(oneIn: 3) {
                    _ = table.update(id) { $0.granted(1) }
                    expected[id]? += 1
                } else {
                    let closed = table.close(id, .byReset)
                    #expect(closed?.sendWindow == expected[id])
                    expected[id] = nil
                    #expect(table.closing(of: id) == .byReset && !table.contains(id))
                }
            }
        }
        #expect(table.count == expected.count && table.identifiers == expected.keys.sorted())
        for (id, window) in expected { #expect(table[id]?.sendWindow == window) }
        let unknown = table.update(next) { $0.sendWindow }
        #expect(table[next] == nil && unknown == nil)
    }

    @Test("The memory of closed streams is bounded")
    func memory() {
        var table = HTTP2StreamTable()
        for id in 0..<300 { table.remember(HTTP2StreamID(2 * id + 1), .byPeer) }
        #expect(table.closing(of: 1) == nil && table.closing(of: 599) == .byPeer && table.closing(of: 89) == .byPeer)
        #expect(table.closing(of: 87) == nil)
    }

    @Test("Budgets refill with time")
    func budget() {
        var budget = HTTP2FloodGuard.Budget(burst: 2, perSecond: 1)
        func takes(_ times: [Duration]) -> [Bool] { times.map { budget.take(at: $0) } }
        #expect(takes([.zero, .zero, .milliseconds(999)]) == [true, true, false])
        #expect(takes([.seconds(1), .seconds(1)]) == [true, false])
        #expect(takes([.seconds(1000), .seconds(1000), .seconds(1000)]) == [true, true, false])
        budget.restore(5)
        #expect(takes([.seconds(1000), .seconds(1000), .seconds(1000)]) == [true, true, false])
    }

    @Test("Fractions of a second count toward the next unit of a budget")
    func budgetFractions() {
        var budget = HTTP2FloodGuard.Budget(burst: 100, perSecond: 2)
        let now = Duration.seconds(1_000)
        for _ in 0..<100 { _ = budget.take(at: now) }
        // The test takes three units from the budget every 1.9 seconds. In this time, the budget grows by 3.8 units.
        let results = (1...200).map { count in
            (0..<3).map { _ in budget.take(at: now + .milliseconds(1_900 * count)) }
        }
        #expect(results.allSatisfy { $0 == [true, true, true] })
    }

    // RFC 9113 §5.1.1.
    @Test("A connection whose stream identifiers are used up accepts no requests")
    func lastStream() throws {
        var configuration = HTTP2Configuration()
        configuration.firstStreamID = .largestStream
        var client = HTTP2Connection(.client, configuration: configuration)
        let head = HTTP2RequestHead(authority: "h")
        #expect(client.acceptsRequests)
        let id = try client.request(head, endsStream: true)
        #expect(id == .largestStream && !client.acceptsRequests)
        #expect(throws: HTTP2Refusal.exhausted) { try client.request(head, endsStream: true) }
    }

    @Test("The window grows and shrinks with settings")
    func receiveWindow() {
        var window = HTTP2ReceiveWindow(size: 100)
        let fits = [window.receive(100), window.receive(1)]
        #expect(fits == [true, false])
        window.resize(by: -60)
        #expect(window.available == -60)
        let increments = [window.credit(10), window.credit(90)]
        #expect(increments == [nil, 100] && window.available == 40)
        let growth = [window.grow(to: 30), window.grow(to: 100)]
        #expect(growth == [nil, 60] && window.available == 100)
    }

    @Test("An early priority counts once, and those of older streams are forgotten")
    func earlyPriorities() {
        var early = HTTP2EarlyPriorities()
        for urgency: UInt8 in [1, 3, 5] { early.set(HTTPPriority(urgency: urgency), of: HTTP2StreamID(urgency)) }
        early.set(HTTPPriority(urgency: 7), of: 3)
        let taken = [early.take(3), early.take(1), early.take(5)]
        #expect(taken == [HTTPPriority(urgency: 7), nil, HTTPPriority(urgency: 5)] && early.count == 0)
    }

    @Test("Streams of one level take turns only if they are incremental", arguments: [false, true])
    func turns(isIncremental: Bool) {
        var (table, schedule) = (HTTP2StreamTable(), HTTP2SendSchedule())
        for id: HTTP2StreamID in [1, 3] {
            var stream = HTTP2Stream(
                id: id, sending: .content, receiving: .content, receiveWindow: HTTP2ReceiveWindow(size: 0),
                sendWindow: 100)
            stream.changePriority(HTTPPriority(isIncremental: isIncremental))
            stream.append(ByteChain([UInt8](repeating: 1, count: 30)), .endOfStream)
            table.insert(stream)
            schedule.update(id, in: &table)
        }
        var ids: [HTTP2StreamID] = []
        while let (id, part) = schedule.takePart(from: &table, atMost: 10) {
            ids.append(id)
            #expect(part.content.count == 10 && part.isLast == part.endsStream)
        }
        let expected: [HTTP2StreamID] = isIncremental ? [1, 3, 1, 3, 1, 3] : [1, 1, 1, 3, 3, 3]
        #expect(ids == expected && schedule.window == 65_535 - 60)
    }

    @Test(
        "The transport's round trip counts, unless the path goes on behind the transport",
        arguments: [(nil, 40, 40), (10, 40, 10), (10, 105, 10), (10, 700, 700), (50, 40, 40)] as [(Int?, Int, Int)])
    func roundTrip(known: Int?, answered: Int, expected: Int) throws {
        var configuration = HTTP2Configuration()
        configuration.roundTrip = known.map { Duration.milliseconds($0) }
        var settings = HTTP2OwnSettings(configuration)
        var output = HTTP2Output()
        settings.send(at: .seconds(1), &output)
        #expect(settings.deadline == .seconds(11) && settings.acknowledgedStreamLimit == nil)
        try settings.acknowledged(at: .seconds(1) + .milliseconds(answered))
        #expect(settings.roundTrip == .milliseconds(expected) && settings.acknowledgedStreamLimit == 100)
        #expect(throws: HTTP2Violation.self) { try settings.acknowledged(at: .seconds(2)) }
    }
}

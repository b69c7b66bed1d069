@testable import CausewayBonjourProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Testing

@Suite("Multicast DNS: continuous queries")
struct ContinuousQueriesTests {
    private static let question = DNSQuestion(Printer.type, .ptr)
    private static let record = DNSRecord(Printer.type, .ptr, timeToLive: 4_500, .name(Printer.instance))
    private static let first = QuestionID(rawValue: 1)
    private static let second = QuestionID(rawValue: 2)

    /// Returns a set of queries with one question, which is due at the time zero.
    private static func queries() -> ContinuousQueries {
        var queries = ContinuousQueries()
        var random: any RandomNumberGenerator & Sendable = SplitMix64(seed: 1)
        _ = queries.ask(question, first, at: .zero, ResponseDelays(), using: &random)
        queries.begin(question, at: .zero)
        return queries
    }

    @Test("The intervals of a series double, and its first query permits a unicast response")
    func series() {
        var queries = Self.queries()
        var times: [Duration] = []
        var permits: [Bool] = []
        while times.count < 5, let due = queries.earliestDue {
            times.append(due)
            permits += queries.takeDue(with: [], .permitted, at: due).map(\.acceptsUnicast)
        }
        #expect(times == [.zero, .seconds(1), .seconds(3), .seconds(7), .seconds(15)])
        #expect(permits == [true, false, false, false, false])
    }

    @Test("Another host's query replaces a question that is due within a second, and the next one comes later")
    func suppression() {
        var queries = Self.queries()
        var random: any RandomNumberGenerator & Sendable = SplitMix64(seed: 1)
        queries.spare(Self.question, at: .zero, using: &random)
        let delay = (queries.earliestDue ?? .zero) - .seconds(1)
        #expect((Duration.milliseconds(20)..<Duration.milliseconds(520)).contains(delay))
        queries.begin(Self.question, at: .seconds(2))
        queries.spare(Self.question, at: .milliseconds(900), using: &random)
        #expect(queries.earliestDue == .seconds(2))
    }

    @Test("A unicast response is expected for two seconds after the query that permits it")
    func unicast() {
        var queries = Self.queries()
        #expect(!queries.expectsUnicast(Self.record, at: .zero))
        _ = queries.takeDue(with: [], .permitted, at: .zero)
        #expect(queries.expectsUnicast(Self.record, at: .seconds(2)))
        #expect(!queries.expectsUnicast(Self.record, at: .milliseconds(2_001)))
    }

    @Test("A question ends with its last listener")
    func listeners() {
        var queries = Self.queries()
        var random: any RandomNumberGenerator & Sendable = SplitMix64(seed: 1)
        let isNew = queries.ask(Self.question, Self.second, at: .zero, ResponseDelays(), using: &random)
        #expect(!isNew)
        #expect(queries.interested(in: Self.record) == [Self.question])
        #expect(queries.listeners(of: Self.question) == [Self.first, Self.second])
        let (earlier, later) = (queries.stop(Self.first), queries.stop(Self.second))
        #expect(earlier == nil)
        #expect(later == Self.question)
        #expect(!queries.holds(Printer.type))
        #expect(queries.earliestDue == nil)
    }

    @Test("When a flood displaces a unique record from the cache, its question is asked again at once")
    func displaced() {
        let location = Printer.records()[1]
        var querier = MulticastQuerier(random: SplitMix64(seed: 1))
        _ = querier.ask(DNSQuestion(Printer.instance, .srv), Self.first, at: .zero)
        _ = querier.ask(DNSQuestion("flood.local", .txt), Self.second, at: .zero)
        _ = querier.advance(to: .seconds(1))
        var message = DNSMessage()
        message.answers = [location]
        _ = querier.heard(message, from: nil, at: .seconds(1))
        var isDisplaced = false
        for number in 0..<20_000 where !isDisplaced {
            let text = [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 0, count: 60_000)
            message.answers = [DNSRecord("flood.local", .txt, timeToLive: 4_500, .text(text))]
            let sender = InternetAddress.ipv4(IPv4Address(bits: 0x0A00_0064 + UInt32(number % 4)))
            for case .changed(_, _, let removed) in querier.heard(message, from: sender, at: .seconds(1)) {
                isDisplaced = isDisplaced || removed.contains(location)
            }
        }
        #expect(isDisplaced)
        #expect(querier.deadline == .seconds(1))
    }

    @Test("A denial postpones the next query by an hour at most, even if it claims to be valid for decades")
    func longDenial() {
        let name: DNSName = "beta.local"
        var querier = MulticastQuerier(random: SplitMix64(seed: 1))
        _ = querier.ask(DNSQuestion(name, .a), Self.first, at: .zero)
        _ = querier.advance(to: .seconds(1))
        var message = DNSMessage()
        message.answers = [
            DNSRecord(name, .nsec, flushesCache: true, timeToLive: UInt32(Int32.max), .next(name, types: [.txt]))
        ]
        let told = querier.heard(message, from: nil, at: .seconds(1))
        #expect(told == [.denied(Self.first)])
        #expect(querier.deadline == .seconds(3_601))
    }
}

import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("DNS query")
struct DNSQueryTests {
    private func makeQuery(_ type: DNSRecordType = .a) -> DNSQuery {
        let plan = DNSAttemptPlan([DNSAttempt(server: DNSRig.first, round: 0)])
        return DNSQuery(DNSQuestion("a.example", type), for: 1, plan, at: .seconds(1))
    }

    @Test("A query ends when the last question that waits for it is cancelled")
    func leaves() {
        var query = makeQuery()
        query.joined(2)
        let ends = [query.left(1), query.left(2)]
        #expect(ends == [false, true])
    }

    @Test("An alias that leads back leaves the query as it was")
    func followsAliases() {
        var query = makeQuery()
        query.beganAttempt(until: 9)
        #expect(query.plan.next == nil)
        let alias = DNSRig.alias("a.example", "b.example")
        let isFollowed = query.follow(to: "b.example", [alias], .seconds(60))
        #expect(isFollowed && query.target == "b.example" && query.plan.next?.server == DNSRig.first)
        let isFollowedBack = query.follow(to: "a.example", [DNSRig.alias("b.example", "a.example")], .seconds(5))
        #expect(!isFollowedBack && query.target == "b.example")
        var answer = DNSAnswer(.noSuchRecord, for: "b.example")
        answer.timeToLive = .seconds(300)
        answer = query.complete(answer, at: .seconds(3))
        #expect(answer.aliases == [alias])
        #expect(answer.timeToLive == .seconds(60) && answer.duration == .seconds(2))
    }

    @Test("Of truncated responses only addresses are kept, and not for the cache")
    func keepsAddresses() {
        var message = DNSMessage()
        message.flags = [.isResponse, .isTruncated]
        message.answers = [DNSRig.a("a.example", 1)]
        var addresses = makeQuery()
        addresses.keepPartial(message, to: addresses.question, from: DNSRig.first)
        let kept = addresses.lastResort
        #expect(kept.records == message.answers && kept.timeToLive == .zero && kept.server == DNSRig.first)
        var texts = makeQuery(.txt)
        texts.keepPartial(message, to: texts.question, from: DNSRig.first)
        #expect(texts.lastResort.finding == .failed(.truncated))
    }

    @Test("The last failure is the answer if no response is pending, and a timeout if one is")
    func lastResorts() {
        var query = makeQuery()
        query.failed(at: DNSRig.first, because: .unreachable, dropsSpares: true)
        #expect(query.lastResort.finding == .failed(.unreachable) && query.lastResort.server == DNSRig.first)
        query.beganAttempt(until: 9)
        query.sent(3)
        #expect(query.onlyAwaitsResponses && query.lastResort.finding == .failed(.timedOut))
        query.forgot(3)
        #expect(!query.onlyAwaitsResponses)
    }
}

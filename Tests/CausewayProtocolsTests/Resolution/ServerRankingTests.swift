import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Ranking of DNS servers")
struct ServerRankingTests {
    private let first = DNSRig.first
    private let second = DNSRig.second

    /// Returns the servers of all attempts in the plan, in order.
    private func servers(_ plan: DNSAttemptPlan) -> [DNSServer] {
        var plan = plan
        var servers: [DNSServer] = []
        while let attempt = plan.next {
            servers.append(attempt.server)
            plan.advance()
        }
        return servers
    }

    @Test("A silent server is tried last until its pause is over")
    func shuns() {
        var ranking = ServerRanking([first, second])
        let settings = ResolverConfiguration.Options()
        ranking.wasSilent(first, at: .zero)
        let early = ranking.makePlan(settings, at: .milliseconds(4_999))
        #expect(servers(early) == [second, first, second, first])
        let late = ranking.makePlan(settings, at: .seconds(5))
        #expect(servers(late) == [first, second, first, second])
    }

    @Test("A message without an answer counts against the server only after the usual time to wait")
    func leavesTime() {
        for (time, order) in [(Duration.milliseconds(999), [first, second]), (Duration.seconds(1), [second, first])] {
            var ranking = ServerRanking([first, second])
            ranking.leftUnanswered(first, since: .zero, timeout: .seconds(5), at: time)
            let plan = ranking.makePlan(ResolverConfiguration.Options(), at: time)
            #expect(servers(plan) == order + order)
        }
    }

    @Test("The health of a server that stays is kept, and that of a removed one is forgotten")
    func replaces() {
        var ranking = ServerRanking([first, second])
        ranking.wasSilent(first, at: .zero)
        ranking.wasSilent(second, at: .zero)
        ranking.use([second])
        ranking.use([second, first])
        let plan = ranking.makePlan(ResolverConfiguration.Options(), at: .seconds(1))
        #expect(servers(plan) == [first, second, first, second])
    }

    @Test("Plans begin with each server in turn if configured")
    func rotates() {
        var ranking = ServerRanking([first, second])
        var settings = ResolverConfiguration.Options()
        settings.rotates = true
        let starts = (0..<4).map { _ in ranking.makePlan(settings, at: .zero).next?.server }
        #expect(starts == [second, first, second, first])
    }

    @Test("In a single round, a server that may drop EDNS gets a second attempt, until it answers with EDNS")
    func spares() {
        var ranking = ServerRanking([first, second])
        var settings = ResolverConfiguration.Options()
        settings.attempts = 1
        let before = ranking.makePlan(settings, at: .zero)
        #expect(servers(before) == [first, second, first, second])
        ranking.answeredExtensions(first)
        let after = ranking.makePlan(settings, at: .zero)
        #expect(servers(after) == [first, second, second])
    }
}

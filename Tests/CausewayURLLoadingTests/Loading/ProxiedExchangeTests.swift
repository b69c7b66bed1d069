import CausewayHTTP
import CausewayProtocols
import CausewayWire
import Foundation
import Testing

@testable import Causeway
@testable import CausewayURLLoading

@Suite("Exchanges that a proxy refuses")
struct ProxiedExchangeTests {
    private let user = URLCredential(user: "u", password: "p", persistence: .none)
    private let load = FakeLoad(challenges: [])

    private var exchange: ProxiedExchange { ProxiedExchange(load: load) }

    /// Records that a proxy refuses connections to the load's origin.
    private func refuse(_ load: FakeLoad, _ challenge: String = #"Basic realm="p""#) {
        let table = load.network.proxyChallenges
        let proxy = table.challenges(of: .hostPort(host: "proxy.test", port: 3128), .http)
        proxy?.note(
            ProxyRefusal(challenges: [challenge], hadCredential: false), hasCredential: false,
            of: TunnelDestination(.name("example.com"), port: 443))
    }

    private func head(_ status: Int, _ fields: (String, String)...) -> HTTPResponseHead {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return HTTPResponseHead(status: status, fields: section)
    }

    @Test("A failed connection is repeated with the program's credential, once")
    func credential() throws {
        let failure = HTTPFailure.cannotConnect(.posix(.EACCES))
        load.failExchange(failure)
        refuse(load)
        #expect(exchange.isAnswered(failure))
        let space = try #require(load.challenges.first?.protectionSpace)
        #expect(space.isProxy() && space.host == "proxy.test" && space.realm == "p")
        load.answer(.useCredential, user)
        load.answer(.useCredential, user)
        #expect(load.steps == [.sent(nil)])
        #expect(load.withProxyAccess { $0.accepted?.0.user } == "u")
    }

    @Test("Without a credential, the load fails with the reason of the connection")
    func noCredential() {
        let failure = HTTPFailure.cannotConnect(.posix(.EACCES))
        load.failExchange(failure)
        refuse(load)
        #expect(exchange.isAnswered(failure))
        load.answer(.performDefaultHandling)
        #expect(load.steps == [.failed(.connectionRefused)])
    }

    @Test("Other failures, and those of connections that no proxy refused, are for the load")
    func otherFailures() {
        load.failExchange(.cannotConnect(.posix(.ECONNREFUSED)))
        #expect(!exchange.isAnswered(.cannotConnect(.posix(.ECONNREFUSED))))
        refuse(load)
        #expect(!exchange.isAnswered(.noResponse(nil)))
        #expect(load.challenges.isEmpty && load.steps.isEmpty)
    }

    @Test("A load that ended takes no credential")
    func ended() {
        let failure = HTTPFailure.cannotConnect(.posix(.EACCES))
        load.failExchange(failure)
        refuse(load)
        #expect(exchange.isAnswered(failure))
        load.fail(LoadFailure(.timedOut))
        load.answer(.useCredential, user)
        #expect(load.steps == [.failed(.timedOut)])
    }

    @Test("A refusal is status 407, or 401 without a challenge of the server")
    func refusals() {
        #expect(exchange.isRefusal(head(407)) && !exchange.isRefusal(head(401)) && !exchange.isRefusal(head(200)))
        refuse(load)
        #expect(exchange.isRefusal(head(401)) && !exchange.isRefusal(head(200)))
        #expect(!exchange.isRefusal(head(401, ("WWW-Authenticate", "Basic"))))
    }

    @Test("A held refusal is delivered without a known proxy or a credential; otherwise the request is repeated")
    func responses() {
        exchange.challenged(load.response)
        #expect(load.challenges.isEmpty && load.steps == [.delivered])
        let known = FakeLoad(challenges: [])
        refuse(known)
        ProxiedExchange(load: known).challenged(known.response)
        #expect(known.challenges.first?.failureResponse === known.response)
        known.answer(.performDefaultHandling)
        #expect(known.steps == [.delivered])
        let answered = FakeLoad(challenges: [])
        refuse(answered)
        ProxiedExchange(load: answered).challenged(answered.response)
        answered.answer(.useCredential, user)
        #expect(answered.steps == [.sent(nil)])
    }

    @Test("An exchange waits for connectivity unless a proxy refuses it")
    func waiting() {
        load.repeatExchange()
        #expect(!exchange.endsWaiting(for: .posix(.EACCES)))
        refuse(load)
        #expect(!exchange.endsWaiting(for: .posix(.ENETDOWN)))
        #expect(exchange.endsWaiting(for: .posix(.EACCES)))
        guard case .cannotConnect(.posix(.EACCES)) = load.withState({ $0.exchangeFailure }) else {
            Issue.record("the exchange ends because of the proxy")
            return
        }
    }
}

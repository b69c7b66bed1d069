import CausewayHTTP
import CausewayProtocols
import CausewaySystem
import CausewayWire
import Foundation
import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayURLLoading

@Suite("Exchanges that fail")
struct FailedExchangeTests {
    /// An authentication mechanism that always fails to create a context. It counts the calls.
    private final class Mechanism: NegotiateMechanism {
        private let count = LockedValue(0)

        var problem: String? { nil }
        var contextCount: Int { count.withLock { $0 } }

        func makeContext(service: String, user: String?, password: String?) -> (any NegotiateContext)? {
            count.withLock { $0 += 1 }
            return nil
        }
    }

    private final class Context: NegotiateContext {
        func step(_ token: Data?) -> Data? { nil }
    }

    private let origin = HTTPOrigin(isSecure: true, host: "example.com")

    @Test("Without a way to continue, the load fails with the failure of the exchange")
    func fails() {
        let load = FakeLoad(challenges: [])
        load.failExchange(.timedOut)
        FailedExchange(of: load).recover()
        #expect(load.steps == [.failed(.timedOut)])
        // Further calls must not report the end of the load again.
        FailedExchange(of: load).recover()
        FailedExchange(of: load).fail()
        #expect(load.steps == [.failed(.timedOut)])
    }

    @Test("A stored response that may be stale is delivered instead (RFC 5861 §4)")
    func stale() throws {
        let store = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let request = URLRequest(url: URL(string: "https://example.com/a").unsafelyUnwrapped)
        var fields = FieldSection()
        fields.append("Cache-Control", "max-age=0, stale-if-error=1000")
        fields.append("ETag", "\"1\"")
        let response = HTTPURLResponse(HTTPResponseHead(status: 200, fields: fields), to: request)
        let now = CacheExchange.now
        store.store(
            CachedURLResponse(response: response, data: Data("stored".utf8)), for: request,
            CacheExchange(fields: FieldSection(), requestTime: now, responseTime: now))
        let task = try #require(URLSession(configuration: .ephemeral).dataTask(with: request).core)
        let cache = try #require(LoadCache(store, for: LoadAttempt(request: request, task: task), nil))
        let load = FakeLoad(challenges: [], cache: cache)
        StoredAnswer(load: load, cache: cache).answer(
            HTTPRequestValue(origin: origin, target: "/a"), .none, .byProtocol)
        load.failExchange(.noResponse(nil))
        FailedExchange(of: load).recover()
        #expect(load.steps == [.requested("\"1\""), .replayed("stored")])
    }

    @Test("An upload continues")
    func upload() throws {
        let load = FakeLoad(challenges: [], uploading: try .make())
        load.failExchange(.noResponse(nil))
        FailedExchange(of: load).recover()
        #expect(load.steps == [.paused(.milliseconds(200))])
    }

    @Test("A handshake whose connection closed between two messages begins again")
    func handshake() throws {
        let mechanism = Mechanism()
        let scheme = ConnectionScheme(name: "NTLM", mechanism: mechanism, needsAnswer: true)
        var attempts = AuthenticationAttempts()
        let step = attempts.refused(
            by: .origin(origin), challenges: ["NTLM"], schemes: try #require(ConnectionSchemes(scheme: "ntlm")))
        guard case .offer(let offers) = step, let offer = offers.first else {
            Issue.record("NTLM is offered")
            return
        }
        let negotiation = ServerNegotiation(
            scheme: scheme, credential: URLCredential(user: "u", password: "p", persistence: .none), offer: offer)
        let load = FakeLoad(challenges: [])
        load.failExchange(.timedOut)
        load.withAccess { access in
            var handshake = BoundHandshake()
            handshake.responded(on: PoolConnectionID(slot: 1, serial: 1))
            _ = handshake.tokenArrived()
            access.negotiation = LoadAccess.Negotiation(context: Context(), negotiation: negotiation)
            access.bound = LoadAccess.Bound(owner: negotiation.owner, handshake: handshake)
        }
        FailedExchange(of: load).recover()
        // The handshake's connection is gone, and there is no security context. So the load fails.
        #expect(mechanism.contextCount == 1 && load.steps == [.failed(.connectionLost)])
    }
}

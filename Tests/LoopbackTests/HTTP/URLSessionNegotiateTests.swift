import Foundation
import Synchronization
import Testing

@testable import CausewayURLLoading

/// A test authentication mechanism whose tokens are texts. The first token names the credential. Each later token names
/// the token that it answers.
final class TextMechanism: NegotiateMechanism {
    let problem: String?
    private let hasTokens: Bool
    /// The token that completes the authentication. No token follows it. `nil` if no token completes it.
    private let last: String?
    private let list = Mutex<[String]>([])

    init(problem: String? = nil, hasTokens: Bool = true, last: String? = nil) {
        self.problem = problem
        self.hasTokens = hasTokens
        self.last = last
    }

    var made: [String] { list.withLock { $0 } }

    func makeContext(service: String, user: String?, password: String?) -> (any NegotiateContext)? {
        let text = "\(service) \(user ?? "-") \(password ?? "-")"
        list.withLock { $0.append(text) }
        return TextContext(hasTokens ? text : nil, last: last)
    }
}

final class TextContext: NegotiateContext {
    private let first: String?
    private let last: String?

    init(_ first: String?, last: String? = nil) {
        self.first = first
        self.last = last
    }

    func step(_ token: Data?) -> Data? {
        guard let token else { return first.map { Data($0.utf8) } }
        return token == last.map { Data($0.utf8) } ? nil : Data("answer to ".utf8) + token
    }
}

extension Loopback {
    @Suite("URLSession: Negotiate (RFC 4559)")
    struct URLSessionNegotiateTests {
        private static func field(_ token: String) -> String { "Negotiate " + Data(token.utf8).base64EncodedString() }

        /// Returns a server that accepts only one `Authorization` value. For any other value, it responds with the
        /// challenges that `challenges` returns.
        private static func server(
            accepting token: String, _ challenges: @escaping @Sendable (String) -> [String] = { _ in ["Negotiate"] }
        ) throws -> ScriptedServer {
            try echoServer { request in
                let given = request["authorization"] ?? ""
                if given == field(token) || given == "Basic YW5uOnNlY3JldA==" { return reply("200 OK", [], given) }
                return reply("401 Who", challenges(given).map { "WWW-Authenticate: \($0)" }, "refused")
            }
        }

        private static func session(_ mechanism: TextMechanism, _ delegate: EventDelegate) -> URLSession {
            privateSession(delegate) { $0.settings.transport.negotiation = mechanism }
        }

        private static func load(_ session: URLSession, _ server: ScriptedServer) async throws -> String {
            let (data, response) = try await session.data(from: #require(URL(string: server.uri())))
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return "\(status) \(String(decoding: data, as: UTF8.self).prefix(9))"
        }

        private static func challenges(_ delegate: EventDelegate) -> [String] {
            delegate.events.filter { $0.hasPrefix("challenge") }
        }

        @Test("A credential becomes a token; later loads need no answer")
        func token() async throws {
            let server = try Self.server(accepting: "HTTP@127.0.0.1 ann secret")
            let mechanism = TextMechanism()
            let delegate = EventDelegate { challenge in
                let space = challenge.protectionSpace
                #expect(space.authenticationMethod == NSURLAuthenticationMethodNegotiate && space.realm == nil)
                #expect(space.receivesCredentialSecurely && !space.isProxy())
                #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
                return (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .forSession))
            }
            let session = Self.session(mechanism, delegate)
            defer { session.invalidateAndCancel() }
            for _ in 0..<3 { #expect(try await Self.load(session, server) == "200 Negotiate") }
            #expect(Self.challenges(delegate) == ["challenge Negotiate 0"])
            #expect(mechanism.made == Array(repeating: "HTTP@127.0.0.1 ann secret", count: 3))
            let stored = session.configuration.urlCredentialStorage?.allCredentials ?? [:]
            #expect(stored.first?.key.authenticationMethod == NSURLAuthenticationMethodNegotiate)
        }

        @Test("A token of the server is answered without a question; empty names mean the credential of the system")
        func continued() async throws {
            let token = Data("more".utf8).base64EncodedString()
            let server = try Self.server(accepting: "answer to more") { given in
                [given == Self.field("HTTP@127.0.0.1 - -") ? "Negotiate \(token)" : "Negotiate"]
            }
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "", password: "", persistence: .none))
            }
            let session = Self.session(TextMechanism(), delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "200 Negotiate")
            #expect(Self.challenges(delegate) == ["challenge Negotiate 0"])
        }

        @Test("A server that never stops negotiating ends with its response")
        func endless() async throws {
            let server = try Self.server(accepting: "never") { _ in ["Negotiate QUFB"] }
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
            }
            let session = Self.session(TextMechanism(), delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "401 refused")
            #expect(Self.challenges(delegate) == ["challenge Negotiate 0"])
        }

        @Test(
            "A server that knows the user and refuses the request leads to another question", arguments: [true, false])
        func unauthorized(isKnown: Bool) async throws {
            let final = Data("final".utf8).base64EncodedString()
            let server = try echoServer { request in
                let given = request["authorization"] ?? ""
                let user = given == Self.field("HTTP@127.0.0.1 bob word") ? "bob" : given.isEmpty ? "" : "ann"
                if user == "bob" || user == "ann" && request.target == "/" { return reply("200 OK", [], given) }
                return reply("401 Who", ["WWW-Authenticate: Negotiate\(user.isEmpty ? "" : " " + final)"], "refused")
            }
            let mechanism = TextMechanism(last: "final")
            let delegate = EventDelegate { challenge in
                let (user, password) = challenge.previousFailureCount == 0 ? ("ann", "secret") : ("bob", "word")
                return (.useCredential, URLCredential(user: user, password: password, persistence: .none))
            }
            let session = Self.session(mechanism, delegate)
            defer { session.invalidateAndCancel() }
            if isKnown { #expect(try await Self.load(session, server) == "200 Negotiate") }
            let url = try #require(URL(string: server.uri("/secret")))
            let (_, response) = try await session.data(from: url)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(Self.challenges(delegate) == ["challenge Negotiate 0", "challenge Negotiate 1"])
            let ann = "HTTP@127.0.0.1 ann secret"
            #expect(mechanism.made == (isKnown ? [ann] : []) + [ann, "HTTP@127.0.0.1 bob word"])
        }

        @Test("A refused credential is counted; then default handling goes on to the next challenge")
        func refused() async throws {
            let server = try Self.server(accepting: "never") { _ in ["Basic realm=\"r\"", "Negotiate"] }
            let delegate = EventDelegate { challenge in
                let isNegotiate = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodNegotiate
                if isNegotiate, challenge.previousFailureCount == 1 { return (.performDefaultHandling, nil) }
                return (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
            }
            let session = Self.session(TextMechanism(), delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "200 Basic YW5")
            #expect(
                Self.challenges(delegate) == [
                    "challenge Negotiate 0", "challenge Negotiate 1", "challenge HTTPBasic 0",
                ])
        }

        @Test("Without the library Negotiate is not offered; without a token the next challenge is", arguments: 0..<2)
        func unavailable(_ kind: Int) async throws {
            let server = try Self.server(accepting: "never") { _ in ["Negotiate", "Basic realm=\"r\""] }
            let mechanism = TextMechanism(problem: kind == 1 ? nil : "no library", hasTokens: false)
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
            }
            let session = Self.session(mechanism, delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "200 Basic YW5")
            let basic = ["challenge HTTPBasic 0"]
            #expect(Self.challenges(delegate) == (kind == 1 ? ["challenge Negotiate 0"] + basic : basic))
            #expect(mechanism.made.count == kind)
        }

        @Test("Without the library and another challenge, a credential leads to an error that says what to install")
        func missing() async throws {
            let server = try Self.server(accepting: "never") { _ in ["Negotiate"] }
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
            }
            let session = Self.session(TextMechanism(problem: "Install package-x."), delegate)
            defer { session.invalidateAndCancel() }
            let error = try #require(await failure { _ = try await Self.load(session, server) })
            #expect(error.code == .userAuthenticationRequired)
            #expect(
                error.userInfo[NSLocalizedFailureReasonErrorKey] as? String
                    == "The server 127.0.0.1 demands Negotiate, which is not available. Install package-x.")
            let other = Self.session(TextMechanism(problem: "Install package-x."), EventDelegate())
            defer { other.invalidateAndCancel() }
            #expect(try await Self.load(other, server) == "401 refused")
        }

        @Test("Default handling without a stored credential sends no token")
        func defaultHandling() async throws {
            let server = try Self.server(accepting: "HTTP@127.0.0.1 - -")
            let mechanism = TextMechanism()
            let session = Self.session(mechanism, EventDelegate())
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "401 refused")
            #expect(mechanism.made.isEmpty)
        }

        /// Starts an HTTP proxy that answers every request and every tunnel itself.
        ///
        /// The proxy accepts one token per connection. After it refuses a token, it closes the connection.
        private static func proxy(
            _ requests: RequestLog, _ challenges: [String] = ["Negotiate"],
            accepts: @escaping @Sendable (String) -> Bool
        ) throws -> ScriptedServer {
            try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                requests.append(request)
                guard accepts(request["proxy-authorization"] ?? "") else {
                    let fields = challenges.map { "Proxy-Authenticate: \($0)" } + ["Connection: close"]
                    return try await peer.write(reply("407 Who are you", fields, "who?"))
                }
                let isTunnel = request.method == "CONNECT"
                try await peer.write(
                    isTunnel
                        ? "HTTP/1.1 200 OK\r\n\r\n" : reply("200 OK", [], "\(request.method) through the proxy"))
                try await peer.serve { reply("200 OK", [], "\($0.method) through the proxy") }
            }
        }

        private static func session(
            _ mechanism: TextMechanism, _ delegate: EventDelegate, through proxy: ScriptedServer
        ) -> URLSession {
            privateSession(delegate) {
                $0.settings.transport.negotiation = mechanism
                $0.connectionProxyDictionary = [
                    kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                    kCFNetworkProxiesHTTPPort: URL(string: proxy.uri())?.port ?? 0,
                ]
            }
        }

        private static func text(_ session: URLSession, _ host: String) async throws -> String {
            let url = try #require(URL(string: "http://\(host)/"))
            return String(decoding: try await session.data(from: url).0, as: UTF8.self)
        }

        @Test("§22: a proxy gets a token for each connection; the delegate answers once")
        func proxies() async throws {
            let requests = RequestLog()
            let proxy = try Self.proxy(requests) { $0 == Self.field("HTTP@127.0.0.1 ann secret") }
            let mechanism = TextMechanism()
            let delegate = EventDelegate { challenge in
                let space = challenge.protectionSpace
                #expect(space.isProxy() && space.realm == nil && space.receivesCredentialSecurely)
                #expect(space.authenticationMethod == NSURLAuthenticationMethodNegotiate)
                return (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .forSession))
            }
            let session = Self.session(mechanism, delegate, through: proxy)
            defer { session.invalidateAndCancel() }
            for host in ["one.test", "two.test", "one.test"] {
                #expect(try await Self.text(session, host) == "GET through the proxy")
            }
            #expect(Self.challenges(delegate) == ["challenge Negotiate 0"])
            // The request to the other host uses the same authenticated connection to the proxy.
            #expect(requests.all.map { $0["proxy-authorization"] != nil } == [false, true])
            #expect(requests.all.map(\.method) == ["GET", "OPTIONS"] && mechanism.made.count == 1)
            let stored = session.configuration.urlCredentialStorage?.allCredentials ?? [:]
            #expect(stored.first?.key.isProxy() == true && stored.count == 1)
        }

        @Test(
            "§22: without a token, or after it is refused, the next challenge of the proxy is offered",
            arguments: [true, false])
        func proxyFallback(hasTokens: Bool) async throws {
            let proxy = try Self.proxy(RequestLog(), ["Basic realm=\"r\"", "Negotiate"]) { $0.hasPrefix("Basic ") }
            let delegate = EventDelegate { challenge in
                if challenge.previousFailureCount == 1 { return (.rejectProtectionSpace, nil) }
                return (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
            }
            let session = Self.session(TextMechanism(hasTokens: hasTokens), delegate, through: proxy)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.text(session, "one.test") == "GET through the proxy")
            let again = hasTokens ? ["challenge Negotiate 1"] : []
            #expect(Self.challenges(delegate) == ["challenge Negotiate 0"] + again + ["challenge HTTPBasic 0"])
        }

        @Test("§22: loads at the same time get their own tokens; a proxy that never stops negotiating ends the load")
        func proxyTokens() async throws {
            let proxy = try Self.proxy(RequestLog()) { $0.hasPrefix("Negotiate ") }
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
            }
            let session = Self.session(TextMechanism(), delegate, through: proxy)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.text(session, "first.test") == "GET through the proxy")
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<2 { group.addTask { try await Self.text(session, "host\(number).test") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: "GET through the proxy", count: 2))
            #expect(Self.challenges(delegate) == ["challenge Negotiate 0"])
            let endless = try Self.proxy(RequestLog(), ["Negotiate QUFB"]) { _ in false }
            let other = Self.session(
                TextMechanism(),
                EventDelegate { _ in
                    (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
                }, through: endless)
            defer { other.invalidateAndCancel() }
            #expect(await failureCode { _ = try await Self.text(other, "one.test") } == .cannotConnectToHost)
        }

        @Test("A library that is missing or has other functions is reported with the package to install")
        func library() {
            #expect(GSSMechanism.probe("libnone.so.9")?.contains("libgssapi-krb5-2") == true)
            #expect(GSSMechanism.probe("libz.so.1")?.contains("gss_import_name") == true)
        }
    }
}

import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

/// A request with the number of its connection, and whether it was authenticated.
private struct Seen: Sendable {
    var connection: Int
    var request: ScriptedRequest
    var user: String?

    /// The kind of the message of NTLM: 1 or 3; 0 for none.
    var message: Int {
        guard let value = request["authorization"] ?? request["proxy-authorization"], value.hasPrefix("NTLM ") else {
            return 0
        }
        let token = Data(base64Encoded: String(value.dropFirst(5))) ?? Data()
        return token.count > 8 ? Int(token[8]) : 0
    }
}

extension Loopback {
    @Suite("URLSession: NTLM (MS-NTHT, MS-NLMP)")
    struct URLSessionNTLMTests {
        private final class Log: Sendable {
            private let list = LockedValue<[Seen]>([])
            let connections = LockedValue(0)

            var all: [Seen] { list.withLock { $0 } }

            func append(_ seen: Seen) { list.withLock { $0.append(seen) } }
        }

        /// A server that demands NTLM for each connection.
        ///
        /// - Parameter change: Changes a challenge: `nil` closes the connection without a response.
        private static func server(
            _ log: Log, others: [String] = [],
            change: @escaping @Sendable (_ connection: Int, _ challenge: String) -> [String]? = { _, text in [text] }
        ) throws -> ScriptedServer {
            try ScriptedServer { peer in
                let connection = log.connections.withLock { count -> Int in
                    count += 1
                    return count
                }
                var side = NTLMServerSide(passwords: ["ann": "secret", "D\\bob": "word", "eve@d.test": "pass"])
                while let request = try await peer.readRequest() {
                    let given = request["authorization"]
                    let challenge = given?.hasPrefix("Basic ") == true ? nil : side.handle(given)
                    log.append(Seen(connection: connection, request: request, user: side.user))
                    guard let challenge else {
                        try await peer.write(
                            reply("200 OK", [], "\(request.method) \(side.user ?? "-") \(request.body)"))
                        continue
                    }
                    guard let fields = change(connection, challenge) else { return }
                    let all = (fields + others).map { $0.contains(":") ? $0 : "WWW-Authenticate: \($0)" }
                    try await peer.write(reply("401 Who", all, "refused"))
                    if fields.contains("Connection: close") { return }
                }
            }
        }

        private static func delegate(_ user: String = "ann", _ password: String = "secret") -> EventDelegate {
            EventDelegate { challenge in
                let space = challenge.protectionSpace
                guard challenge.previousFailureCount < 2 else { return (.performDefaultHandling, nil) }
                #expect(space.authenticationMethod == NSURLAuthenticationMethodNTLM && space.realm == nil)
                return (.useCredential, URLCredential(user: user, password: password, persistence: .forSession))
            }
        }

        private static func text(_ session: URLSession, _ request: URLRequest) async throws -> String {
            let (data, response) = try await session.data(for: request)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return "\(status) " + String(decoding: data, as: UTF8.self)
        }

        private static func load(_ session: URLSession, _ server: ScriptedServer) async throws -> String {
            try await text(session, URLRequest(url: #require(URL(string: server.uri()))))
        }

        private static func challenges(_ delegate: EventDelegate) -> [String] {
            delegate.events.filter { $0.hasPrefix("challenge") }
        }

        @Test("Three messages on one connection, which later loads use without a field")
        func handshake() async throws {
            let log = Log()
            let server = try Self.server(log)
            let delegate = Self.delegate()
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            for _ in 0..<3 { #expect(try await Self.load(session, server) == "200 GET ann ") }
            #expect(Self.challenges(delegate) == ["challenge NTLM 0"])
            #expect(log.all.map(\.message) == [0, 1, 3, 0, 0])
            #expect(log.all.map(\.connection) == [1, 2, 2, 2, 2])
            let stored = session.configuration.urlCredentialStorage?.allCredentials ?? [:]
            #expect(stored.first?.key.authenticationMethod == NSURLAuthenticationMethodNTLM)
        }

        @Test("Names with a domain", arguments: [("D\\bob", "word"), ("eve@d.test", "pass")])
        func domains(user: String, password: String) async throws {
            let server = try Self.server(Log())
            let session = privateSession(Self.delegate(user, password))
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "200 GET \(user) ")
        }

        @Test(
            "The first message has no content, the last one has; a stream is asked for again", arguments: [true, false])
        func content(isStream: Bool) async throws {
            let log = Log()
            let server = try Self.server(log)
            let session = privateSession(Self.delegate())
            defer { session.invalidateAndCancel() }
            var request = URLRequest(url: try #require(URL(string: server.uri())))
            request.httpMethod = "POST"
            request.httpBody = Data("content".utf8)
            #expect(try await Self.text(session, request) == "200 POST ann content")
            #expect(log.all.map(\.request.body) == ["content", "", "content"])
            if isStream {
                request.httpBodyStream = InputStream(data: Data("stream".utf8))
                #expect(try await Self.text(session, request) == "200 POST ann stream")
                #expect(log.all.last?.message == 0)
            }
        }

        @Test("A request with another credential, or after the session forgot it, never gets the connection")
        func strangers() async throws {
            let log = Log()
            let server = try Self.server(log)
            let session = privateSession(Self.delegate())
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "200 GET ann ")
            var request = URLRequest(url: try #require(URL(string: server.uri())))
            request.setValue("Basic eDp5", forHTTPHeaderField: "Authorization")
            #expect(try await Self.text(session, request) == "200 GET - ")
            #expect(log.all.last?.connection == 1)
            await session.reset()
            #expect(try await Self.load(session, server) == "200 GET ann ")
            #expect(log.all.map(\.message).suffix(3) == [0, 1, 3])
            #expect(log.all.filter { $0.connection == 2 }.map(\.message) == [1, 3])
        }

        @Test("A wrong password is counted; then the response is the result")
        func refused() async throws {
            let log = Log()
            let server = try Self.server(log)
            let delegate = Self.delegate("ann", "wrong")
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "401 refused")
            #expect(Self.challenges(delegate) == (0...2).map { "challenge NTLM \($0)" })
            #expect(log.all.map(\.message) == [0, 1, 3, 1, 3])
        }

        @Test("A connection that closes after the challenge: the handshake starts over, and never goes on elsewhere")
        func closed() async throws {
            let log = Log()
            let server = try Self.server(log) { connection, challenge in
                connection == 2 && challenge != "NTLM" ? [challenge, "Connection: close"] : [challenge]
            }
            let session = privateSession(Self.delegate())
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "200 GET ann ")
            #expect(log.all.map(\.message) == [0, 1, 1, 3] && log.all.map(\.connection) == [1, 2, 3, 3])
            let never = Log()
            let closing = try Self.server(never) { _, challenge in
                challenge == "NTLM" ? [challenge] : [challenge, "Connection: close"]
            }
            #expect(await failureCode { _ = try await Self.load(session, closing) } == .networkConnectionLost)
            #expect(never.all.map(\.message) == [0, 1, 1, 1])
        }

        @Test("Loads at the same time: each connection has its own handshake, and there are not too many")
        func parallel() async throws {
            let log = Log()
            let server = try Self.server(log)
            let delegate = Self.delegate()
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { try await Self.load(session, server) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: "200 GET ann ", count: 8))
            for connection in 1...log.connections.withLock({ $0 }) {
                let messages = log.all.filter { $0.connection == connection }.map(\.message)
                #expect(messages.allSatisfy { $0 == 0 } || messages.filter { $0 != 0 }.prefix(2) == [1, 3])
            }
            #expect(try await Self.load(session, server) == "200 GET ann ")
        }

        @Test("A cancelled load leaves the connections to the others")
        func cancelled() async throws {
            let log = Log()
            let server = try Self.server(log)
            let session = privateSession(Self.delegate()) { $0.httpMaximumConnectionsPerHost = 1 }
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "200 GET ann ")
            let loads = (0..<6).map { _ in Task { try await Self.load(session, server) } }
            for load in loads.prefix(5) { load.cancel() }
            #expect(try await loads[5].value == "200 GET ann ")
        }

        @Test("Without MD4 the next challenge is offered, otherwise NTLM comes before Basic", arguments: [true, false])
        func unavailable(isMissing: Bool) async throws {
            let log = Log()
            let server = try Self.server(log, others: ["Basic realm=\"r\""])
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
            }
            let session = privateSession(delegate) {
                if isMissing { $0.settings.transport.ntlm = NTLMMechanism(problem: { "no provider" }) }
            }
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == (isMissing ? "200 GET - " : "200 GET ann "))
            #expect(Self.challenges(delegate) == [isMissing ? "challenge HTTPBasic 0" : "challenge NTLM 0"])
        }

        @Test("Default handling without a stored credential sends no message")
        func defaultHandling() async throws {
            let log = Log()
            let server = try Self.server(log)
            let session = privateSession(EventDelegate())
            defer { session.invalidateAndCancel() }
            #expect(try await Self.load(session, server) == "401 refused")
            #expect(log.all.map(\.message) == [0])
        }

        // MARK: Proxies

        /// A proxy that demands NTLM for each tunnel, and is also the server of the tunnels.
        private static func proxy(_ log: Log, others: [String] = []) throws -> ScriptedServer {
            try ScriptedServer { peer in
                let connection = log.connections.withLock { count -> Int in
                    count += 1
                    return count
                }
                var side = NTLMServerSide()
                while let request = try await peer.readRequest() {
                    let given = request["proxy-authorization"]
                    let challenge = given?.hasPrefix("Basic ") == true ? nil : side.handle(given)
                    log.append(Seen(connection: connection, request: request, user: side.user))
                    guard let challenge else { break }
                    let fields = ([challenge] + others).map { "Proxy-Authenticate: \($0)" }
                    try await peer.write(reply("407 Who", fields, "who?"))
                }
                try await peer.write("HTTP/1.1 200 OK\r\n\r\n")
                let user = side.user ?? "-"
                try await peer.serve { reply("200 OK", [], "\($0.method) by \(user)") }
            }
        }

        private static func session(_ delegate: EventDelegate, through proxy: ScriptedServer) -> URLSession {
            privateSession(delegate) {
                $0.connectionProxyDictionary = [
                    kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                    kCFNetworkProxiesHTTPPort: URL(string: proxy.uri())?.port ?? 0,
                ]
            }
        }

        @Test("§22: a proxy gets its messages on each connection; the delegate answers once")
        func proxies() async throws {
            let log = Log()
            let proxy = try Self.proxy(log)
            let delegate = Self.delegate()
            let session = Self.session(delegate, through: proxy)
            defer { session.invalidateAndCancel() }
            for host in ["one.test", "two.test", "one.test"] {
                let request = URLRequest(url: try #require(URL(string: "http://\(host)/")))
                #expect(try await Self.text(session, request) == "200 GET by ann")
            }
            #expect(Self.challenges(delegate) == ["challenge NTLM 0"])
            #expect(log.all.map(\.message) == [0, 1, 3, 1, 3])
            #expect(log.all.map(\.connection) == [1, 2, 2, 3, 3])
        }

        @Test("§22: twelve tunnels at the same time; a wrong password is counted, and the next challenge is offered")
        func proxyCases() async throws {
            let log = Log()
            let proxy = try Self.proxy(log)
            let session = Self.session(Self.delegate(), through: proxy)
            defer { session.invalidateAndCancel() }
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for host in 0..<12 {
                    group.addTask {
                        try await Self.text(session, URLRequest(url: #require(URL(string: "http://h\(host).test/"))))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: "200 GET by ann", count: 12))
            let refusing = try Self.proxy(Log(), others: ["Basic realm=\"r\""])
            let delegate = EventDelegate { challenge in
                if challenge.previousFailureCount == 1 { return (.rejectProtectionSpace, nil) }
                return (.useCredential, URLCredential(user: "ann", password: "wrong", persistence: .none))
            }
            let other = Self.session(delegate, through: refusing)
            defer { other.invalidateAndCancel() }
            let request = URLRequest(url: try #require(URL(string: "http://one.test/")))
            #expect(try await Self.text(other, request) == "200 GET by -")
            #expect(
                Self.challenges(delegate) == ["challenge NTLM 0", "challenge NTLM 1", "challenge HTTPBasic 0"])
        }
    }
}

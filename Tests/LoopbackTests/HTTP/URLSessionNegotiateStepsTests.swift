import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

extension Loopback {
    @Suite("URLSession: Negotiate with several steps (RFC 4559 §5)")
    struct URLSessionNegotiateStepsTests {
        /// The authentication state of a server or proxy for one connection. It accepts a first token, and then two
        /// answers.
        private struct Side {
            private var step = 0
            var isDone: Bool { step == 3 }

            /// Processes the value of the `Authorization` field. Returns the next challenge. Returns `nil` if the
            /// connection is authenticated.
            mutating func handle(_ value: String?) -> String? {
                guard let value else { return isDone ? nil : "Negotiate" }
                let token = String(
                    decoding: Data(base64Encoded: String(value.dropFirst(10))) ?? Data(), as: UTF8.self)
                switch (step, token) {
                case (_, "HTTP@127.0.0.1 ann secret"): step = 1
                case (1, "answer to one"): step = 2
                case (2, "answer to two"): step = 3
                default:
                    step = 0
                    return "Negotiate"
                }
                return isDone ? nil : "Negotiate " + Data((step == 1 ? "one" : "two").utf8).base64EncodedString()
            }
        }

        private static func delegate() -> EventDelegate {
            EventDelegate { challenge in
                guard challenge.previousFailureCount < 2 else { return (.performDefaultHandling, nil) }
                return (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .forSession))
            }
        }

        /// Handles one connection: notes its number and the requests.
        private static func serve(
            _ peer: ScriptedPeer, _ number: Int, _ log: ConnectionLog, _ field: String,
            _ refuse: (String) -> String
        ) async throws -> Bool {
            var side = Side()
            while let request = try await peer.readRequest() {
                log.append("\(number)")
                guard let challenge = side.handle(request[field]) else {
                    guard field == "authorization" else { return true }
                    try await peer.write(reply("200 OK", [], "hello"))
                    continue
                }
                try await peer.write(refuse(challenge))
            }
            return false
        }

        @Test("All steps are on one connection, and later loads use it without a token")
        func server() async throws {
            let log = ConnectionLog()
            let server = try ScriptedServer { peer in
                let number = log.nextConnection()
                _ = try await Self.serve(peer, number, log, "authorization") {
                    reply("401 Who", ["WWW-Authenticate: \($0)"], "refused")
                }
            }
            let mechanism = TextMechanism()
            let delegate = Self.delegate()
            let session = privateSession(delegate) { $0.settings.transport.negotiation = mechanism }
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.uri()))
            for _ in 0..<3 {
                #expect(try await session.data(from: url).0 == Data("hello".utf8))
            }
            // For the first token, the client uses the connection on which the challenge arrived. The reason is that a
            // single token may be enough.
            #expect(log.all == ["1", "1", "2", "2", "2", "2", "2"])
            #expect(mechanism.made.count == 2)
            #expect(delegate.events.filter { $0.hasPrefix("challenge") } == ["challenge Negotiate 0"])
        }

        @Test("§22: all steps of a proxy are on the connection of the request", arguments: [1, 8])
        func proxy(count: Int) async throws {
            let log = ConnectionLog()
            let proxy = try ScriptedServer { peer in
                let number = log.nextConnection()
                let isOpen = try await Self.serve(peer, number, log, "proxy-authorization") {
                    reply("407 Who", ["Proxy-Authenticate: \($0)"], "who?")
                }
                guard isOpen else { return }
                try await peer.write(reply("200 OK", [], "accepted"))
                try await peer.serve { reply("200 OK", [], "\($0.method) through the proxy") }
            }
            let delegate = Self.delegate()
            let session = privateSession(delegate) {
                $0.settings.transport.negotiation = TextMechanism()
                $0.connectionProxyDictionary = [
                    kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                    kCFNetworkProxiesHTTPPort: URL(string: proxy.uri())?.port ?? 0,
                ]
            }
            defer { session.invalidateAndCancel() }
            let texts = try await withThrowingTaskGroup(of: Data.self) { group in
                for host in 0..<count {
                    group.addTask { try await session.data(from: #require(URL(string: "http://h\(host).test/"))).0 }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: Data("GET through the proxy".utf8), count: count))
            if count == 1 { #expect(log.all == ["1", "2", "2", "2"]) }
        }
    }
}

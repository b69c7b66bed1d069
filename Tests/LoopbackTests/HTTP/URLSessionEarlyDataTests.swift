import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: early data (RFC 8446 §2.3, RFC 8470)")
    struct URLSessionEarlyDataTests {
        /// Starts a server that closes each connection after one request. Each response names its connection, and
        /// states whether the connection began with early data.
        private static func server(
            _ authority: HTTPAuthority, _ protocols: [String],
            _ status: @escaping @Sendable (MachineServer.Request) -> Int = { _ in 200 }
        ) async throws -> MachineServer {
            let options = try authority.serverOptions(protocols)
            options.securityProtocolOptions.update { $0.earlyDataEnabled = true }
            return try await MachineServer(tls: options) { request in
                let text = "\(request.connection) \(request.isEarly)"
                return MachineServer.Reply(
                    status: status(request), content: Data(text.utf8), fieldLines: "Connection: close\r\n")
            }
        }

        private static func session(
            _ authority: HTTPAuthority, isEarly: Bool = true, through proxy: TestProxy? = nil
        ) -> URLSession {
            let delegate = EventDelegate { challenge in
                guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
                SecTrustSetAnchorCertificates(trust, [authority.anchor] as CFArray)
                return (.performDefaultHandling, URLCredential(trust: trust))
            }
            return privateSession(delegate) {
                $0.enablesEarlyData = isEarly
                if let proxy { $0.proxyConfigurations = [ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)] }
            }
        }

        private static func load(
            _ session: URLSession, _ server: MachineServer, _ method: String = "GET", _ metrics: MetricsDelegate? = nil
        ) async throws -> String {
            var request = URLRequest(url: try #require(URL(string: server.uri())))
            request.httpMethod = method
            return String(decoding: try await session.data(for: request, delegate: metrics).0, as: UTF8.self)
        }

        @Test("A GET over a new connection to a known server is early data, a POST is not")
        func sends() async throws {
            let authority = try HTTPAuthority()
            let server = try await Self.server(authority, ["http/1.1"])
            defer { server.stop() }
            let session = Self.session(authority)
            #expect(try await Self.load(session, server) == "1 false")
            let metrics = MetricsDelegate()
            #expect(try await Self.load(session, server, "GET", metrics) == "2 true")
            let transaction = try #require(metrics.metrics?.transactionMetrics.first)
            #expect(transaction.negotiatedTLSProtocolVersion == .TLSv13 && !transaction.isReusedConnection)
            #expect(transaction.secureConnectionEndDate != nil && transaction.remotePort != nil)
            #expect(try await Self.load(session, server, "POST") == "3 false")
            #expect(try await Self.load(session, server) == "4 true")
            let other = Self.session(authority, isEarly: false)
            #expect(try await Self.load(other, server) == "5 false")
            #expect(try await Self.load(other, server) == "6 false")
        }

        @Test("Over HTTP/2, in a session that renews its connections")
        func renews() async throws {
            let authority = try HTTPAuthority()
            let server = try await Self.server(authority, ["h2"])
            defer { server.stop() }
            let session = Self.session(authority)
            #expect(try await Self.load(session, server) == "1 false")
            await session.flush()
            #expect(try await Self.load(session, server) == "2 true")
            #expect(try await Self.load(session, server, "POST") == "2 true")
        }

        @Test("Through a proxy, requests follow the handshake")
        func proxied() async throws {
            let authority = try HTTPAuthority()
            let server = try await Self.server(authority, ["http/1.1"])
            defer { server.stop() }
            let endpoint = server.endpoint
            try await TestProxy.with(.http(), route: { _ in endpoint }) { proxy in
                let session = Self.session(authority, through: proxy)
                // Only the proxy can resolve this name.
                let url = try #require(URL(string: server.uri(host: "server.test")))
                for text in ["1 false", "2 false", "3 false"] {
                    #expect(String(decoding: try await session.data(from: url).0, as: UTF8.self) == text)
                }
            }
        }

        @Test("§24: a request that is too early is sent again, and not early (RFC 8470 §5.2)")
        func tooEarly() async throws {
            let authority = try HTTPAuthority()
            let server = try await Self.server(authority, ["http/1.1"]) { $0.isEarly ? 425 : 200 }
            defer { server.stop() }
            let session = Self.session(authority)
            #expect(try await Self.load(session, server) == "1 false")
            #expect(try await Self.load(session, server) == "3 false")
            #expect(server.answeredCount == 3)
        }

        @Test("Many requests at once, over HTTP/1.1 and HTTP/2", arguments: ["http/1.1", "h2"])
        func many(_ name: String) async throws {
            let authority = try HTTPAuthority()
            let server = try await Self.server(authority, [name])
            defer { server.stop() }
            let session = Self.session(authority)
            for _ in 0..<3 {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for number in 0..<40 {
                        group.addTask { try await Self.load(session, server, number % 5 == 4 ? "POST" : "GET") }
                    }
                    for try await text in group { #expect(text.hasSuffix("e")) }
                }
                await session.flush()
            }
            #expect(server.answeredCount == 120)
        }
    }
}

import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: HTTP Strict Transport Security (RFC 6797)")
    struct URLSessionStrictTransportTests {
        /// The test's environment: a secure server, a proxy that knows the server's name, and the server's certificate
        /// authority.
        private struct Place {
            let authority: HTTPAuthority
            let server: MachineServer
            let proxy: TestProxy

            /// Returns a session. If `trusts` is `true`, the session trusts the test authority. Otherwise it accepts
            /// every certificate chain despite its errors.
            func session(trusts: Bool = true) -> URLSession {
                let anchor = authority.anchor
                let delegate = EventDelegate { challenge in
                    guard let trust = challenge.protectionSpace.serverTrust else {
                        return (.performDefaultHandling, nil)
                    }
                    if trusts { SecTrustSetAnchorCertificates(trust, [anchor] as CFArray) }
                    return (.useCredential, URLCredential(trust: trust))
                }
                return privateSession(delegate) {
                    $0.proxyConfigurations = [ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)]
                }
            }
        }

        /// Runs a server for `server.test` on every port. It speaks no HTTP without TLS.
        private func with(_ field: String, redirect: Bool = false, _ body: (Place) async throws -> Void) async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["http/1.1"])) { request in
                let content = Data(request.path.utf8)
                let line = "Strict-Transport-Security: \(field)\r\n"
                guard redirect, request.path == "/to" else {
                    return MachineServer.Reply(content: content, fieldLines: line)
                }
                let location = "Location: http://server.test/end\r\n"
                return MachineServer.Reply(status: 302, content: content, fieldLines: line + location)
            }
            defer { server.stop() }
            let endpoint = server.endpoint
            try await TestProxy.with(.http(), route: { _ in endpoint }) { proxy in
                try await body(Place(authority: authority, server: server, proxy: proxy))
            }
        }

        private func load(_ session: URLSession, _ uri: String) async throws -> String? {
            let (_, response) = try await session.data(from: #require(URL(string: uri)))
            return response.url?.absoluteString
        }

        @Test("A host that wants secure connections only gets no others; other sessions know nothing")
        func secured() async throws {
            try await with("max-age=1000") { place in
                let session = place.session()
                defer { session.invalidateAndCancel() }
                // The session does not know yet that the host requires TLS, and the server does not speak HTTP without
                // TLS.
                #expect(await failureCode { _ = try await load(session, "http://server.test/a") } != nil)
                let first = try await load(session, "https://server.test/a")
                #expect(first == "https://server.test/a")
                #expect(try await load(session, "http://server.test/a") == "https://server.test/a")
                #expect(try await load(session, "http://server.test:80/b") == "https://server.test/b")
                let other = place.session()
                defer { other.invalidateAndCancel() }
                #expect(await failureCode { _ = try await load(other, "http://server.test/a") } != nil)
            }
        }

        @Test(
            "A policy of age 0, an address, and a chain with errors change nothing",
            arguments: [
                ("max-age=0", "server.test", true), ("max-age=9", "127.0.0.1", true),
                ("max-age=9", "server.test", false),
            ])
        func unsecured(_ field: String, _ host: String, _ trusts: Bool) async throws {
            try await with(field) { place in
                let session = place.session(trusts: trusts)
                defer { session.invalidateAndCancel() }
                _ = try await load(session, "https://\(host)/a")
                #expect(await failureCode { _ = try await load(session, "http://\(host)/a") } != nil)
            }
        }

        @Test("A redirect to such a host is no downgrade")
        func redirect() async throws {
            try await with("max-age=1000", redirect: true) { place in
                let session = place.session()
                defer { session.invalidateAndCancel() }
                let last = try await load(session, "https://server.test/to")
                #expect(last == "https://server.test/end")
            }
        }
    }
}

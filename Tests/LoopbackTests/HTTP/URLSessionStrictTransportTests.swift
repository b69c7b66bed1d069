import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: HTTP Strict Transport Security (RFC 6797)")
    struct URLSessionStrictTransportTests {
        /// A session that accepts every server.
        private func session() -> URLSession {
            privateSession(
                EventDelegate { challenge in
                    (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
                })
        }

        private func server(_ field: String, redirect: Bool = false) async throws -> MachineServer {
            try await MachineServer(tls: HTTPAuthority().serverOptions(["http/1.1"])) { request in
                let content = Data(request.path.utf8)
                let line = "Strict-Transport-Security: \(field)\r\n"
                guard redirect, request.path.hasPrefix("/to/") else {
                    return MachineServer.Reply(content: content, fieldLines: line)
                }
                let location = "Location: http://localhost:\(request.path.dropFirst(4))/end\r\n"
                return MachineServer.Reply(status: 302, content: content, fieldLines: line + location)
            }
        }

        private func load(_ session: URLSession, _ uri: String) async throws -> String? {
            let (_, response) = try await session.data(from: #require(URL(string: uri)))
            return response.url?.absoluteString
        }

        @Test("A host that wants secure connections only gets no others, until it ends its policy")
        func secured() async throws {
            let server = try await server("max-age=1000")
            defer { server.stop() }
            let session = session()
            let plain = server.uri("/a", scheme: "http", host: "localhost")
            // Nothing is known yet, and the server does not speak HTTP without TLS.
            #expect(await failureCode { _ = try await load(session, plain) } != nil)
            let secure = server.uri("/a", host: "localhost")
            #expect(try await load(session, secure) == secure)
            #expect(try await load(session, plain) == secure)
            // Another session knows nothing.
            #expect(await failureCode { _ = try await load(self.session(), plain) } != nil)
        }

        @Test(
            "A policy of age 0 and an address change nothing",
            arguments: [("max-age=0", "localhost"), ("max-age=9", "127.0.0.1")])
        func unsecured(_ field: String, _ host: String) async throws {
            let server = try await server(field)
            defer { server.stop() }
            let session = session()
            _ = try await load(session, server.uri("/a", host: host))
            let plain = server.uri("/a", scheme: "http", host: host)
            #expect(await failureCode { _ = try await load(session, plain) } != nil)
        }

        @Test("A redirect to such a host is no downgrade")
        func redirect() async throws {
            let server = try await server("max-age=1000", redirect: true)
            defer { server.stop() }
            let port = try #require(URL(string: server.uri())?.port)
            let last = try await load(session(), server.uri("/to/\(port)", host: "localhost"))
            #expect(last == server.uri("/end", host: "localhost"))
        }
    }
}

import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: alternative services (RFC 7838)")
    struct URLSessionAlternativeTests {
        /// Creates a server whose responses contain the server's name.
        private func server(
            _ name: String, _ protocols: [String], field: String = "", status: Int = 200,
            _ authority: HTTPAuthority
        ) async throws -> MachineServer {
            try await MachineServer(tls: authority.serverOptions(protocols)) { _ in
                MachineServer.Reply(
                    status: status, content: Data(name.utf8), fieldLines: field.isEmpty ? "" : "Alt-Svc: \(field)\r\n")
            }
        }

        private func port(_ server: MachineServer) throws -> Int { try #require(URL(string: server.uri())?.port) }

        /// Returns a session that trusts servers with a certificate from this authority.
        private func session(_ authority: HTTPAuthority) -> URLSession {
            let anchor = authority.anchor
            return privateSession(
                EventDelegate { challenge in
                    guard let trust = challenge.protectionSpace.serverTrust else {
                        return (.performDefaultHandling, nil)
                    }
                    #expect(challenge.protectionSpace.host == "127.0.0.1")
                    SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
                    let isGood = SecTrustEvaluateWithError(trust, nil)
                    return isGood ? (.useCredential, URLCredential(trust: trust)) : (.performDefaultHandling, nil)
                })
        }

        /// Loads a URL over a new connection. Returns the name of the server that answers.
        private func load(_ session: URLSession, _ uri: String) async throws -> String {
            await session.flush()
            return String(decoding: try await session.data(from: #require(URL(string: uri))).0, as: UTF8.self)
        }

        @Test("New connections lead to the alternative, until the session is reset")
        func used() async throws {
            let authority = try HTTPAuthority()
            let other = try await server("other", ["h2"], authority)
            let origin = try await server(
                "origin", ["http/1.1"], field: "h3=\":1\", h2=\"127.0.0.1:\(try port(other))\"; ma=3600", authority)
            defer {
                origin.stop()
                other.stop()
            }
            let session = session(authority)
            #expect(try await load(session, origin.uri()) == "origin")
            #expect(try await load(session, origin.uri()) == "other")
            #expect(try await load(session, origin.uri("/b")) == "other")
            // Alternatives belong to one origin and one session. Another session or another origin on the same host has
            // none.
            #expect(try await load(self.session(authority), origin.uri()) == "origin")
            await session.reset()
            #expect(try await load(session, origin.uri()) == "origin")
        }

        @Test(
            "An alternative with another protocol, without a good certificate, or that refuses connections is not used",
            arguments: ["protocol", "certificate", "closed"])
        func refused(_ kind: String) async throws {
            let authority = try HTTPAuthority()
            let other = try await server(
                "other", kind == "protocol" ? ["http/1.1"] : ["h2"],
                kind == "certificate" ? HTTPAuthority() : authority)
            // Nothing listens on port 1, so a connection to it fails.
            let place = kind == "closed" ? 1 : try port(other)
            let origin = try await server("origin", ["http/1.1"], field: "h2=\":\(place)\"", authority)
            defer {
                origin.stop()
                other.stop()
            }
            let session = session(authority)
            for _ in 0..<3 { #expect(try await load(session, origin.uri()) == "origin") }
            #expect(other.answeredCount == 0)
        }

        @Test("Status 421 leads back to the origin")
        func misdirected() async throws {
            let authority = try HTTPAuthority()
            let other = try await server("other", ["h2"], status: 421, authority)
            let origin = try await server("origin", ["http/1.1"], field: "h2=\":\(try port(other))\"", authority)
            defer {
                origin.stop()
                other.stop()
            }
            let session = session(authority)
            #expect(try await load(session, origin.uri()) == "origin")
            // The other server refuses the request, so the same load sends the request to the origin.
            #expect(try await load(session, origin.uri()) == "origin")
            #expect(other.answeredCount == 1)
            let (data, _) = try await session.data(from: #require(URL(string: origin.uri())))
            #expect(String(decoding: data, as: UTF8.self) == "origin")
        }
    }
}

import Causeway
import CausewaySystem
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

extension Loopback {
    @Suite("URLSession: NTLM over TLS (MS-NTHT)")
    struct URLSessionNTLMSecureTests {
        /// The state of a TLS server. It contains the NTLM handshake of each connection, and all received messages in
        /// order of arrival.
        private struct Side {
            var handshakes: [Int: NTLMServerSide] = [:]
            /// The received messages. Each entry is a connection number and a message kind, such as `2: 1`.
            var messages: [String] = []
        }

        private final class Shared: Sendable {
            let side = LockedValue(Side())

            var messages: [String] { side.withLock { $0.messages } }
        }

        /// A server that demands NTLM for each connection, also over HTTP/2. Over HTTP/2 it never accepts an NTLM
        /// message.
        private static func server(
            _ authority: HTTPAuthority, _ protocols: [String], _ shared: Shared
        ) async throws -> MachineServer {
            try await MachineServer(tls: authority.serverOptions(protocols)) { request in
                shared.side.withLock { state in
                    let number = request.connection
                    state.messages.append("\(number): \(NTLMRig.message(request.authorization))")
                    var side = state.handshakes[number] ?? NTLMServerSide()
                    defer { state.handshakes[number] = side }
                    guard let challenge = side.handle(request.authorization) else {
                        return MachineServer.Reply(content: Data("hello \(side.user ?? "-")".utf8))
                    }
                    var fields = FieldSection()
                    fields.append("www-authenticate", challenge)
                    return MachineServer.Reply(
                        status: 401, content: Data("refused".utf8), fieldLines: "WWW-Authenticate: \(challenge)\r\n",
                        fields: fields)
                }
            }
        }

        private static func session(_ authority: HTTPAuthority) -> URLSession {
            let anchor = authority.anchor
            return privateSession(
                EventDelegate { challenge in
                    guard let trust = challenge.protectionSpace.serverTrust else {
                        return (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
                    }
                    SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
                    return (.useCredential, URLCredential(trust: trust))
                })
        }

        @Test(
            "One connection with HTTP/1.1 carries the handshake, also if the server prefers HTTP/2; later loads use it",
            arguments: [["http/1.1"], ["h2", "http/1.1"]])
        func handshake(_ protocols: [String]) async throws {
            let authority = try HTTPAuthority()
            let shared = Shared()
            let server = try await Self.server(authority, protocols, shared)
            defer { server.stop() }
            let session = Self.session(authority)
            defer { session.invalidateAndCancel() }
            for _ in 0..<2 { #expect(try await NTLMRig.text(session, server.uri()) == "200 hello ann") }
            #expect(shared.messages == ["1: 0", "2: 1", "2: 3", "2: 0"])
        }

        @Test("A server that has only HTTP/2 gets no message, and the load fails")
        func onlyHTTP2() async throws {
            let authority = try HTTPAuthority()
            let shared = Shared()
            let server = try await Self.server(authority, ["h2"], shared)
            defer { server.stop() }
            let session = Self.session(authority)
            defer { session.invalidateAndCancel() }
            #expect(await failureCode { _ = try await NTLMRig.text(session, server.uri()) } == .secureConnectionFailed)
            #expect(shared.messages == ["1: 0"])
        }
    }
}

import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: TLS and HTTP/2 (§9, §18, §24)")
    struct URLSessionSecurityTests {
        private static func echo(_ request: MachineServer.Request) -> MachineServer.Reply {
            MachineServer.Reply(content: Data(request.path.utf8) + request.content)
        }

        /// A delegate that adds the test's certificate authority to the trust anchors, and then returns the given
        /// decision.
        private static func trusting(
            _ authority: HTTPAuthority, _ disposition: URLSession.AuthChallengeDisposition = .performDefaultHandling
        ) -> EventDelegate {
            EventDelegate { challenge in
                guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
                SecTrustSetAnchorCertificates(trust, [authority.anchor] as CFArray)
                return (disposition, URLCredential(trust: trust))
            }
        }

        private static func code(_ session: URLSession, _ uri: String) async throws -> URLError.Code? {
            let url = try #require(URL(string: uri))
            return await failureCode { _ = try await session.data(from: url) }
        }

        @Test("A chain with an unknown root fails, with and without a delegate", arguments: [true, false])
        func unknownRoot(_ hasDelegate: Bool) async throws {
            let server = try await MachineServer(tls: HTTPAuthority().serverOptions(["http/1.1"]), Self.echo)
            defer { server.stop() }
            let delegate = EventDelegate()
            let session = privateSession(hasDelegate ? delegate : nil)
            let url = try #require(URL(string: server.uri()))
            let error = await failure { _ = try await session.data(from: url) }
            #expect(error?.code == .serverCertificateHasUnknownRoot)
            #expect(error?.failureURLPeerTrust != nil)
            #expect(delegate.events.contains("challenge ServerTrust 0") == hasDelegate)
        }

        @Test("Default handling with other anchors, and an explicit acceptance", arguments: [true, false])
        func accepted(_ usesCredential: Bool) async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["h2", "http/1.1"]), Self.echo)
            defer { server.stop() }
            let delegate =
                usesCredential
                ? EventDelegate { challenge in
                    (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
                } : Self.trusting(authority)
            let session = privateSession(delegate)
            for path in ["/a", "/b"] {
                let url = try #require(URL(string: server.uri(path)))
                let (data, _) = try await session.data(from: url)
                #expect(String(decoding: data, as: UTF8.self) == path)
            }
            // Both requests use the same connection, so there is only one challenge.
            #expect(delegate.events.filter { $0.hasPrefix("challenge") } == ["challenge ServerTrust 0"])
            #expect(server.acceptedCount == 1)
        }

        @Test(
            "§9: connections resume TLS sessions without a challenge, unless the program overrode an error; a reset asks again",
            arguments: [(true, [1, 1, 2]), (false, [1, 2, 3])])
        func resumption(_ hasAnchor: Bool, _ counts: [Int]) async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["http/1.1"])) { _ in
                MachineServer.Reply(content: Data("ok".utf8), fieldLines: "Connection: close\r\n")
            }
            defer { server.stop() }
            let delegate =
                hasAnchor
                ? Self.trusting(authority)
                : EventDelegate { challenge in
                    (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
                }
            let session = privateSession(delegate)
            let url = try #require(URL(string: server.uri()))
            var found: [Int] = []
            for number in 0..<3 {
                if number == 2 { await session.reset() }
                #expect(try await session.data(from: url).0 == Data("ok".utf8))
                found.append(delegate.events.filter { $0.hasPrefix("challenge") }.count)
            }
            #expect(found == counts && server.acceptedCount == 3)
        }

        @Test("A certificate for another name is not trusted")
        func wrongName() async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["http/1.1"]), Self.echo)
            defer { server.stop() }
            let session = privateSession(Self.trusting(authority))
            let uri = server.uri("/", host: "localhost")
            #expect(try await Self.code(session, uri) == .serverCertificateUntrusted)
        }

        @Test(
            "A delegate that rejects the server",
            arguments: [
                (URLSession.AuthChallengeDisposition.cancelAuthenticationChallenge, URLError.Code.cancelled),
                (.rejectProtectionSpace, .serverCertificateUntrusted),
            ])
        func rejected(_ disposition: URLSession.AuthChallengeDisposition, _ code: URLError.Code) async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["http/1.1"]), Self.echo)
            defer { server.stop() }
            let session = privateSession(Self.trusting(authority, disposition))
            #expect(try await Self.code(session, server.uri()) == code)
            #expect(server.answeredCount == 0)
        }

        @Test("A server that speaks no common version of TLS")
        func version() async throws {
            let authority = try HTTPAuthority()
            let options = try authority.serverOptions(["http/1.1"])
            sec_protocol_options_set_max_tls_protocol_version(options.securityProtocolOptions, .TLSv12)
            let server = try await MachineServer(tls: options, Self.echo)
            defer { server.stop() }
            let session = privateSession(Self.trusting(authority)) { $0.tlsMinimumSupportedProtocolVersion = .TLSv13 }
            #expect(try await Self.code(session, server.uri()) == .secureConnectionFailed)
        }

        @Test("§24: 50 requests with bodies share one HTTP/2 connection; §16: metrics name it")
        func multiplexing() async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["h2", "http/1.1"]), Self.echo)
            defer { server.stop() }
            let session = privateSession(Self.trusting(authority))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        var request = URLRequest(url: try #require(URL(string: server.uri("/\(number)/"))))
                        request.httpMethod = "POST"
                        let (data, _) = try await session.upload(for: request, from: Data("content".utf8))
                        #expect(String(decoding: data, as: UTF8.self) == "/\(number)/content")
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.acceptedCount == 1)
            let metrics = MetricsDelegate()
            let url = try #require(URL(string: server.uri()))
            _ = try await session.data(from: url, delegate: metrics)
            let transaction = try #require(metrics.metrics?.transactionMetrics.first)
            #expect(transaction.networkProtocolName == "h2")
            #expect(transaction.negotiatedTLSProtocolVersion == .TLSv13)
            #expect(transaction.isReusedConnection)
        }
    }
}

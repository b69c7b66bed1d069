import CausewayHTTPServer
import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: client certificates, dates of certificates, and downgrades (§8, §9, §18)")
    struct URLSessionIdentityTests {
        private static func echo(_ request: MachineServer.Request) -> MachineServer.Reply {
            MachineServer.Reply(content: Data(request.path.utf8))
        }

        /// Returns the options of a server that demands a client certificate.
        ///
        /// The server trusts either the given authority or the authorities of the system.
        private static func demanding(
            _ authority: HTTPAuthority, _ protocols: [String], trustsAuthority: Bool = true
        ) throws -> NWProtocolTLS.Options {
            let options = try authority.serverOptions(protocols)
            sec_protocol_options_set_peer_authentication_required(options.securityProtocolOptions, true)
            guard trustsAuthority else { return options }
            sec_protocol_options_set_verify_block(
                options.securityProtocolOptions,
                { _, trust, complete in
                    let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                    SecTrustSetAnchorCertificates(trust, [authority.anchor] as CFArray)
                    complete(SecTrustEvaluateWithError(trust, nil))
                }, .global())
            return options
        }

        /// A delegate that trusts the certificate authority. If the server requests a client certificate, the delegate
        /// responds with the identity.
        private static func delegate(_ authority: HTTPAuthority, _ identity: SecIdentity?) -> EventDelegate {
            EventDelegate { challenge in
                let space = challenge.protectionSpace
                if let trust = space.serverTrust {
                    SecTrustSetAnchorCertificates(trust, [authority.anchor] as CFArray)
                    return (.performDefaultHandling, nil)
                }
                guard space.authenticationMethod == NSURLAuthenticationMethodClientCertificate, let identity else {
                    return (.performDefaultHandling, nil)
                }
                return (.useCredential, URLCredential(identity: identity, certificates: nil, persistence: .none))
            }
        }

        @Test("§9: a delegate identifies the client with a certificate", arguments: ["h2", "http/1.1"])
        func identifies(_ version: String) async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: Self.demanding(authority, [version]), Self.echo)
            defer { server.stop() }
            let delegate = Self.delegate(authority, authority.identity)
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.uri("/a")))
            #expect(try await session.data(from: url).0 == Data("/a".utf8))
            #expect(
                Set(delegate.events.filter { $0.hasPrefix("challenge") }) == [
                    "challenge ServerTrust 0", "challenge ClientCertificate 0",
                ])
        }

        @Test("§9: each connection asks for the certificate, because a resumed session would keep the last answer")
        func identifiesAgain() async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: Self.demanding(authority, ["http/1.1"])) { _ in
                MachineServer.Reply(content: Data("ok".utf8), fieldLines: "Connection: close\r\n")
            }
            defer { server.stop() }
            let delegate = Self.delegate(authority, authority.identity)
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.uri()))
            for number in 1...3 {
                #expect(try await session.data(from: url).0 == Data("ok".utf8))
                #expect(delegate.events.count { $0 == "challenge ClientCertificate 0" } == number)
            }
            #expect(server.acceptedCount == 3)
        }

        @Test("§9: the space of a client certificate names the authorities of the server, as DER")
        func authorities() async throws {
            let authority = try HTTPAuthority()
            let options = try Self.demanding(authority, ["http/1.1"])
            options.trustRules.anchors = [authority.anchor]
            let server = try await MachineServer(tls: options, Self.echo)
            defer { server.stop() }
            let names = LockedValue<[Data]?>(nil)
            let delegate = EventDelegate { challenge in
                let space = challenge.protectionSpace
                if let trust = space.serverTrust {
                    #expect(space.distinguishedNames == nil)
                    return (.useCredential, URLCredential(trust: trust))
                }
                names.withLock { $0 = space.distinguishedNames }
                return (
                    .useCredential,
                    URLCredential(identity: authority.identity, certificates: nil, persistence: .none)
                )
            }
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            _ = try await session.data(from: try #require(URL(string: server.uri())))
            let found = try #require(names.withLock { $0 })
            // A sequence with the common name of the authority.
            #expect(found.count == 1 && found[0].first == 0x30)
            #expect(found[0].range(of: Data("HTTP Test Authority".utf8)) != nil)
        }

        @Test("§9, §18: without a certificate, and with one that the server does not trust", arguments: [false, true])
        func refused(_ hasCertificate: Bool) async throws {
            let authority = try HTTPAuthority()
            let options = try Self.demanding(authority, ["http/1.1"], trustsAuthority: false)
            let server = try await MachineServer(tls: options, Self.echo)
            defer { server.stop() }
            let session = privateSession(Self.delegate(authority, hasCertificate ? authority.identity : nil))
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.uri()))
            let error = await failure { _ = try await session.data(from: url) }
            #expect(error?.code == (hasCertificate ? .clientCertificateRejected : .clientCertificateRequired))
            #expect(server.answeredCount == 0)
        }

        @Test(
            "§18: certificates that have expired or are not yet valid",
            arguments: [
                (-7_200, -3_600, URLError.Code.serverCertificateHasBadDate),
                (3_600, 7_200, .serverCertificateNotYetValid),
            ])
        func dates(_ begin: Int64, _ end: Int64, _ code: URLError.Code) async throws {
            let authority = try HTTPAuthority(validFrom: begin, to: end)
            let server = try await MachineServer(tls: authority.serverOptions(["http/1.1"]), Self.echo)
            defer { server.stop() }
            let session = privateSession(Self.delegate(authority, nil))
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.uri()))
            #expect(await failureCode { _ = try await session.data(from: url) } == code)
        }

        @Test(
            "§8: a redirect from https to http is refused, unless the delegate follows it; no credential goes with it")
        func downgrade() async throws {
            let requests = RequestLog()
            let plain = try echoServer(requests)
            let target = plain.uri("/end")
            let authority = try HTTPAuthority()
            var routes = HTTPServerRoutes()
            routes.get("/{path}") { _ in
                var response = HTTPServerResponse.redirect(to: target, status: 302)
                response.fields["Set-Cookie"] = "secret=1; Secure"
                return response
            }
            let parameters = NWParameters(tls: try authority.serverOptions(["h2"]))
            try await TestServer.run(using: parameters, routes: routes) { _, port in
                var request = URLRequest(url: URL(string: "https://127.0.0.1:\(port)/start")!)
                request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
                request.setValue("kept", forHTTPHeaderField: "X-Other")
                let session = privateSession(Self.delegate(authority, nil))
                defer { session.invalidateAndCancel() }
                let refusal = await failureCode { [request] in _ = try await session.data(for: request) }
                #expect(refusal == .appTransportSecurityRequiresSecureConnection)
                #expect(requests.all.isEmpty)
                _ = try await session.data(for: request, delegate: FollowingDelegate())
                let last = try #require(requests.all.last)
                #expect(last.target == "/end" && last["x-other"] == "kept")
                #expect(last["authorization"] == nil && last["cookie"] == nil)
            }
        }
    }
}

/// A delegate that follows every redirect with the proposed request.
private final class FollowingDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(request)
    }
}

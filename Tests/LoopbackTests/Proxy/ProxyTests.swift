import CausewayTLS
import CausewayTypes
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("Connections through proxies")
    struct ProxyTests {
        static let name = NWEndpoint.hostPort(host: "inner.test", port: 7_007)

        /// Runs an echo server on the loopback address, for connections through proxies.
        static func withServer(
            tls: NWProtocolTLS.Options? = nil, _ body: (ListenerProbe) async throws -> Void
        ) async throws {
            let parameters = NWParameters(tls: tls)
            parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
            let listener = ListenerProbe(try NWListener(using: parameters))
            try await listener.listen()
            defer { listener.listener.cancel() }
            try await body(listener)
        }

        static func parameters(
            _ proxies: [ProxyConfiguration], tls: NWProtocolTLS.Options? = nil
        ) -> NWParameters {
            let context = NWParameters.PrivacyContext(description: "proxies")
            context.proxyConfigurations = proxies
            let parameters = NWParameters(tls: tls)
            parameters.setPrivacyContext(context)
            return parameters
        }

        /// Sends and receives over a connection, which must succeed. Returns the connection's establishment report.
        static func exchange(
            to endpoint: NWEndpoint = name, _ parameters: NWParameters, _ server: ListenerProbe,
            check: (Probe) -> Void = { _ in }
        ) async throws -> NWConnection.EstablishmentReport {
            let client = Probe(to: endpoint, using: parameters).start()
            defer { client.connection.cancel() }
            // The protocols at both ends exchange messages before either end is ready.
            let peer = try await server.connections.next()
            defer { peer.connection.cancel() }
            peer.start()
            try await client.ready()
            try await client.deliver(Data("question"), isComplete: false)
            #expect(try await peer.receive().text == "question")
            try await peer.deliver(Data("answer"), isComplete: false)
            #expect(try await client.receive().text == "answer")
            try await client.sendEnd()
            #expect(try await peer.receive().isFinal)
            try await peer.sendEnd()
            #expect(try await client.receive().isFinal)
            check(client)
            let reports = Mailbox<NWConnection.EstablishmentReport?>()
            client.connection.requestEstablishmentReport(queue: client.queue) { reports.put($0) }
            return try #require(try await reports.next())
        }

        /// Expects that a connection is not established.
        static func fails(
            to endpoint: NWEndpoint = name, _ parameters: NWParameters, _ error: NWError
        ) async throws {
            let client = Probe(to: endpoint, using: parameters).start()
            try await client.states.first { $0 == .waiting(error) }
            try await client.cancel()
        }

        /// Stays open, so that no other test listens on the port of ``closedPlace()``.
        private static let closedSocket: Result<RawSocket, any Error> = Result { try RawSocket.refusing(.tcp4) }

        static func closedPlace() throws -> NWEndpoint { Medium.tcp4.endpoint(of: try closedSocket.get()) }

        @Test("SOCKS: the proxy receives the name, and the report shows the proxy")
        func socks() async throws {
            try await Self.withServer { server in
                try await TestProxy.with(.socks(), route: { _ in server.endpoint }) { proxy in
                    let configuration = ProxyConfiguration(socksv5Proxy: proxy.endpoint)
                    let report = try await Self.exchange(Self.parameters([configuration]), server)
                    #expect(proxy.requests.history == ["inner.test:7007"])
                    #expect(report.usedProxy && report.proxyConfigured)
                    #expect(report.proxyEndpoint == proxy.endpoint)
                }
            }
        }

        @Test("SOCKS with a correct and with a wrong password", arguments: [true, false])
        func socksCredential(isRight: Bool) async throws {
            try await Self.withServer { server in
                try await TestProxy.with(.socks(credential: "me:secret"), route: { _ in server.endpoint }) { proxy in
                    let configuration = ProxyConfiguration(socksv5Proxy: proxy.endpoint)
                    configuration.applyCredential(username: "me", password: isRight ? "secret" : "guess")
                    let parameters = Self.parameters([configuration])
                    guard isRight else { return try await Self.fails(parameters, .posix(.EACCES)) }
                    _ = try await Self.exchange(parameters, server)
                    #expect(proxy.requests.history == ["credential me:secret", "inner.test:7007"])
                }
            }
        }

        @Test("CONNECT: the client authenticates on request, and an address is sent unchanged")
        func connect() async throws {
            try await Self.withServer { server in
                try await TestProxy.with(.http(credential: "me:secret"), route: { _ in server.endpoint }) { proxy in
                    let configuration = ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)
                    configuration.applyCredential(username: "me", password: "secret")
                    let endpoint = NWEndpoint.hostPort(host: "192.0.2.9", port: 80)
                    _ = try await Self.exchange(to: endpoint, Self.parameters([configuration]), server)
                    #expect(proxy.requests.history == ["192.0.2.9:80", "192.0.2.9:80"])
                }
            }
        }

        private static func authority(_ names: [String]) throws -> (NWProtocolTLS.Options, anchor: SecCertificate) {
            let now = Int64(Date().timeIntervalSince1970)
            var root = CertificateTemplate(subject: "Proxy Root", notBefore: now - 3_600, notAfter: now + 3_600)
            root.isAuthority = true
            let authority = try root.issue()
            var leaf = CertificateTemplate(subject: "server", notBefore: now - 3_600, notAfter: now + 3_600)
            leaf.names = names.map { .name($0) }
            let options = NWProtocolTLS.Options()
            let identity = try #require(sec_identity_create(SecIdentity(try leaf.issue(by: authority))))
            sec_protocol_options_set_local_identity(options.securityProtocolOptions, identity)
            return (options, SecCertificate(data: Data(authority.certificates[0].der)))
        }

        private static func trusting(
            _ anchor: SecCertificate, _ name: String, protocol wanted: String? = nil
        ) -> NWProtocolTLS.Options {
            let options = NWProtocolTLS.Options()
            sec_protocol_options_set_tls_server_name(options.securityProtocolOptions, name)
            if let wanted { sec_protocol_options_add_tls_application_protocol(options.securityProtocolOptions, wanted) }
            sec_protocol_options_set_verify_block(
                options.securityProtocolOptions,
                { _, trust, complete in
                    let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                    SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
                    complete(SecTrustEvaluateWithError(trust, nil))
                }, DispatchQueue(label: "verify"))
            return options
        }

        private static func negotiated(_ probe: Probe) -> String? {
            let metadata = probe.connection.metadata(definition: NWProtocolTLS.definition) as? NWProtocolTLS.Metadata
            return metadata.flatMap {
                sec_protocol_metadata_get_negotiated_protocol($0.securityProtocolMetadata).map { String(cString: $0) }
            }
        }

        @Test(
            "TLS to the proxy, and TLS to the server inside: the program sees the server's parameters",
            arguments: [true, false])
        func secure(isServerSecure: Bool) async throws {
            let (outer, outerAnchor) = try Self.authority(["proxy.test"])
            let (inner, innerAnchor) = try Self.authority(["inner.test"])
            for options in [outer, inner] {
                sec_protocol_options_add_tls_application_protocol(
                    options.securityProtocolOptions, options === outer ? "proxy" : "inner")
            }
            try await Self.withServer(tls: isServerSecure ? inner : nil) { server in
                try await TestProxy.with(.http(), tls: outer, route: { _ in server.endpoint }) { proxy in
                    let configuration = ProxyConfiguration(
                        httpCONNECTProxy: proxy.endpoint,
                        tlsOptions: Self.trusting(outerAnchor, "proxy.test", protocol: "proxy"))
                    let tls = isServerSecure ? Self.trusting(innerAnchor, "inner.test", protocol: "inner") : nil
                    _ = try await Self.exchange(Self.parameters([configuration], tls: tls), server) { client in
                        #expect(Self.negotiated(client) == (isServerSecure ? "inner" : nil))
                        let metadata = client.connection.metadata(definition: NWProtocolTLS.definition)
                        #expect((metadata == nil) == !isServerSecure)
                    }
                }
            }
        }

        @Test("A proxy with an untrusted certificate receives no request and no credential")
        func distrusted() async throws {
            let (outer, _) = try Self.authority(["proxy.test"])
            let (_, stranger) = try Self.authority(["proxy.test"])
            try await TestProxy.with(.http(), tls: outer, route: { _ in nil }) { proxy in
                let configuration = ProxyConfiguration(
                    httpCONNECTProxy: proxy.endpoint, tlsOptions: Self.trusting(stranger, "proxy.test"))
                configuration.applyCredential(username: "me", password: "secret")
                let client = Probe(to: Self.name, using: Self.parameters([configuration])).start()
                let state = try await client.states.first { if case .waiting(.tls) = $0 { true } else { false } }
                #expect(!"\(state)".contains("secret"))
                try await client.cancel()
                #expect(proxy.requests.history.isEmpty)
            }
        }

        @Test("A chain: the second proxy is reached through the first")
        func chain() async throws {
            try await Self.withServer { server in
                try await TestProxy.with(.socks(credential: "a:1"), route: { _ in server.endpoint }) { last in
                    let place = last.endpoint
                    try await TestProxy.with(.http(), route: { _ in place }) { first in
                        let second = ProxyConfiguration(
                            socksv5Proxy: .hostPort(host: "second.test", port: 1_080))
                        second.applyCredential(username: "a", password: "1")
                        let chain = ProxyConfiguration(chain: [
                            ProxyConfiguration(httpCONNECTProxy: first.endpoint), second,
                        ])
                        let report = try await Self.exchange(Self.parameters([chain]), server)
                        #expect(first.requests.history == ["second.test:1080"])
                        #expect(last.requests.history == ["credential a:1", "inner.test:7007"])
                        #expect(report.proxyEndpoint == first.endpoint)
                    }
                }
            }
        }

        @Test("After a dead proxy the next one is used, never the direct connection")
        func nextProxy() async throws {
            try await Self.withServer { server in
                let dead = ProxyConfiguration(httpCONNECTProxy: try Self.closedPlace())
                try await TestProxy.with(.socks(), route: { _ in server.endpoint }) { proxy in
                    let parameters = Self.parameters([dead, ProxyConfiguration(socksv5Proxy: proxy.endpoint)])
                    let report = try await Self.exchange(parameters, server)
                    #expect(report.proxyEndpoint == proxy.endpoint)
                    #expect(report.previousAttemptCount == 1)
                }
                try await Self.fails(to: server.endpoint, Self.parameters([dead]), .posix(.ECONNREFUSED))
                #expect(server.connections.history.count == 1)
            }
        }

        @Test("If every proxy allows it, the direct connection is tried last", arguments: [true, false])
        func failover(isRefusal: Bool) async throws {
            try await Self.withServer { server in
                let refusal = TestProxy.Kind.refusing("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                try await TestProxy.with(refusal, route: { _ in nil }) { proxy in
                    let place = isRefusal ? proxy.endpoint : try Self.closedPlace()
                    var configuration = ProxyConfiguration(httpCONNECTProxy: place)
                    configuration.allowFailover = true
                    let report = try await Self.exchange(
                        to: server.endpoint, Self.parameters([configuration]), server)
                    #expect(!report.usedProxy && report.proxyConfigured && report.proxyEndpoint == nil)
                    #expect(report.previousAttemptCount == 1)
                }
            }
        }

        @Test("A proxy's refusal becomes the connection's error")
        func refusal() async throws {
            try await Self.withServer { server in
                let refusal = TestProxy.Kind.refusing("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                try await TestProxy.with(refusal, route: { _ in nil }) { proxy in
                    let configuration = ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)
                    try await Self.fails(to: server.endpoint, Self.parameters([configuration]), .posix(.EACCES))
                    #expect(server.connections.history.isEmpty)
                }
            }
        }

        @Test("Fallback proxies are used only if the direct connection fails", arguments: [true, false])
        func secondChoice(isReachable: Bool) async throws {
            try await Self.withServer { server in
                try await TestProxy.with(.socks(), route: { _ in server.endpoint }) { proxy in
                    let parameters = Self.parameters([ProxyConfiguration(socksv5Proxy: proxy.endpoint)])
                    parameters.preferNoProxies = true
                    let endpoint = isReachable ? server.endpoint : try Self.closedPlace()
                    let report = try await Self.exchange(to: endpoint, parameters, server)
                    #expect(report.usedProxy == !isReachable && report.proxyConfigured)
                    #expect(proxy.requests.history.count == (isReachable ? 0 : 1))
                }
            }
        }

        @Test("A prohibited interface is not used to reach the proxy either")
        func restrictions() async throws {
            try await TestProxy.with(.socks(), route: { _ in nil }) { proxy in
                let parameters = Self.parameters([ProxyConfiguration(socksv5Proxy: proxy.endpoint)])
                parameters.prohibitedInterfaceTypes = [.loopback]
                let client = Probe(to: Self.name, using: parameters).start()
                try await client.states.first { if case .waiting = $0 { true } else { false } }
                try await client.cancel()
                #expect(proxy.requests.history.isEmpty)
            }
        }

        @Test("UDP through HTTP proxies and relays is refused and does not bypass the proxy")
        func unsupported() async throws {
            let place = NWEndpoint.hostPort(host: "192.0.2.1", port: 1)
            let chain = ProxyConfiguration(chain: [
                ProxyConfiguration(httpCONNECTProxy: place), ProxyConfiguration(socksv5Proxy: place),
            ])
            let relay = ProxyConfiguration(relayHops: [.init(http2RelayEndpoint: place)])
            for (proxy, isDatagram) in [(chain, true), (relay, false)] {
                let parameters = isDatagram ? NWParameters.udp : .tcp
                let context = NWParameters.PrivacyContext(description: "unsupported")
                context.proxyConfigurations = [proxy]
                parameters.setPrivacyContext(context)
                let client = Probe(to: place, using: parameters).start()
                try await client.states.expect(.failed(.posix(.ENOTSUP)))
            }
        }
    }
}

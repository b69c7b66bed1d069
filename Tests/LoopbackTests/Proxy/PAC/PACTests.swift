import CausewayTypes
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("Connections with a proxy selected by a PAC script", .enabled(if: Script.canRun, Script.need))
    struct PACTests {
        private static func place(_ endpoint: NWEndpoint) -> String {
            guard case .hostPort(let host, let port) = endpoint else { return "" }
            return "\(host):\(port)"
        }

        private static func choosing(_ result: String) -> ProxyConfiguration {
            ProxyConfiguration(script: Script.choosing(result))
        }

        private static func exchange(
            to endpoint: NWEndpoint = ProxyTests.name, _ configuration: ProxyConfiguration, _ server: ListenerProbe
        ) async throws -> NWConnection.EstablishmentReport {
            try await ProxyTests.exchange(to: endpoint, ProxyTests.parameters([configuration]), server)
        }

        /// Starts a connection that must fail. Returns its error and the proxy's failure reason.
        private static func failure(
            to endpoint: NWEndpoint = ProxyTests.name, _ parameters: NWParameters
        ) async throws -> (error: NWError, reason: String) {
            let client = Probe(to: endpoint, using: parameters).start()
            let state = try await client.states.first {
                if case .waiting = $0 { true } else { $0 == .ready }
            }
            let reason = client.connection.proxyFailureReason ?? ""
            try await client.cancel()
            guard case .waiting(let error) = state else { throw CancellationError() }
            return (error, reason)
        }

        private static func failure(
            to endpoint: NWEndpoint = ProxyTests.name, _ configuration: ProxyConfiguration
        ) async throws -> (error: NWError, reason: String) {
            try await failure(to: endpoint, ProxyTests.parameters([configuration]))
        }

        @Test(
            "HTTP CONNECT and SOCKS: the proxy receives the name, and the report shows the proxy",
            arguments: ["PROXY", "SOCKS5"])
        func kinds(_ kind: String) async throws {
            try await ProxyTests.withServer { server in
                try await TestProxy.with(kind == "PROXY" ? .http() : .socks(), route: { _ in server.endpoint }) {
                    proxy in
                    let report = try await Self.exchange(Self.choosing("\(kind) \(Self.place(proxy.endpoint))"), server)
                    #expect(proxy.requests.history == ["inner.test:7007"])
                    #expect(report.usedProxy && report.proxyConfigured && report.proxyEndpoint == proxy.endpoint)
                }
            }
        }

        @Test("DIRECT bypasses all proxies if the script returns it")
        func direct() async throws {
            try await ProxyTests.withServer { server in
                let script =
                    "function FindProxyForURL(url, host) { return host === '127.0.0.1' ? 'DIRECT' : 'PROXY h:1'; }"
                let report = try await Self.exchange(to: server.endpoint, ProxyConfiguration(script: script), server)
                #expect(!report.usedProxy && report.proxyConfigured)
            }
        }

        @Test("After an unreachable proxy the next one is tried, including DIRECT")
        func order() async throws {
            try await ProxyTests.withServer { server in
                let closed = Self.place(try ProxyTests.closedPlace())
                try await TestProxy.with(.http(), route: { _ in server.endpoint }) { proxy in
                    let result = "SOCKS4 h:1; PROXY \(closed); SOCKS5 \(closed); PROXY \(Self.place(proxy.endpoint))"
                    let report = try await Self.exchange(Self.choosing(result), server)
                    #expect(report.proxyEndpoint == proxy.endpoint)
                }
                let report = try await Self.exchange(
                    to: server.endpoint, Self.choosing("PROXY \(closed); DIRECT"), server)
                #expect(!report.usedProxy)
            }
        }

        @Test("An invalid script never leads to a direct connection")
        func closed() async throws {
            try await ProxyTests.withServer { server in
                let closed = Self.place(try ProxyTests.closedPlace())
                for (script, error, words) in [
                    ("function FindProxyForURL() {\n nowhere(); }", NWError.posix(.ENOEXEC), "line 2"),
                    ("(", .posix(.ENOEXEC), "SyntaxError"), ("for (;;);", .posix(.ETIMEDOUT), "time"),
                    (Script.choosing("nonsense"), .posix(.ENOTSUP), "nonsense"),
                    (Script.choosing("SOCKS4 h:1"), .posix(.ENOTSUP), "SOCKS4"),
                    (Script.choosing("PROXY \(closed)"), .posix(.ECONNREFUSED), ""),
                    (String(repeating: " ", count: 1 << 20 | 1), .posix(.EFBIG), "1 MiB"),
                ] {
                    let failure = try await Self.failure(to: server.endpoint, ProxyConfiguration(script: script))
                    #expect(failure.error == error, "\(script.prefix(60))")
                    #expect(words.isEmpty || failure.reason.contains(words), "\(failure.reason)")
                }
            }
        }

        @Test("A failing script falls back to the next proxy and the direct connection, if that is allowed")
        func failover() async throws {
            try await ProxyTests.withServer { server in
                var wrong = ProxyConfiguration(script: "(")
                try await TestProxy.with(.http(), route: { _ in server.endpoint }) { proxy in
                    let next = ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)
                    let report = try await ProxyTests.exchange(ProxyTests.parameters([wrong, next]), server)
                    #expect(report.proxyEndpoint == proxy.endpoint)
                }
                wrong.allowFailover = true
                let report = try await Self.exchange(to: server.endpoint, wrong, server)
                #expect(!report.usedProxy)
                let parameters = ProxyTests.parameters([ProxyConfiguration(script: "(")])
                parameters.preferNoProxies = true
                #expect(try await !ProxyTests.exchange(to: server.endpoint, parameters, server).usedProxy)
                var excepted = ProxyConfiguration(script: "(")
                excepted.excludedDomains = ["127.0.0.1"]
                #expect(try await !Self.exchange(to: server.endpoint, excepted, server).proxyConfigured)
            }
        }

        @Test("TLS runs through the selected proxy, and the script receives a URL without secrets")
        func urls() async throws {
            try await ProxyTests.withServer { server in
                try await TestProxy.with(.http(), route: { _ in server.endpoint }) { proxy in
                    let script = """
                        function FindProxyForURL(url, host) {
                            return url === "https://inner.test/" ? "PROXY \(Self.place(proxy.endpoint))" : "nonsense " + url;
                        }
                        """
                    let endpoint = NWEndpoint.url(try #require(URL(string: "https://u:p@inner.test/secret?x")))
                    _ = try await Self.exchange(to: endpoint, ProxyConfiguration(script: Data(script.utf8)), server)
                    #expect(proxy.requests.history == ["inner.test:443"])
                }
            }
        }

        @Test("Credentials are sent to proxies of a trusted script, but not to those of an untrusted script")
        func credentials() async throws {
            try await ProxyTests.withServer { server in
                try await TestProxy.with(.http(credential: "me:secret"), route: { _ in server.endpoint }) { proxy in
                    let result = "PROXY \(Self.place(proxy.endpoint))"
                    let own = Self.choosing(result)
                    own.applyCredential(username: "me", password: "secret")
                    _ = try await Self.exchange(own, server)
                    try await PACServer.with({ _ in PACServer.script(Script.choosing(result)) }) { web in
                        let strange = try ProxyConfiguration(automaticConfiguration: web.url())
                        strange.applyCredential(username: "me", password: "secret")
                        #expect(try await Self.failure(strange).error == .posix(.EACCES))
                    }
                }
            }
        }

        @Test("Datagrams use SOCKS 5 only")
        func datagrams() async throws {
            let context = NWParameters.PrivacyContext(description: "datagrams")
            context.proxyConfigurations = [Self.choosing("PROXY h:1; HTTPS h:2")]
            let parameters = NWParameters.udp
            parameters.setPrivacyContext(context)
            #expect(try await Self.failure(parameters).error == .posix(.ENOTSUP))
        }

        @Test("Cancelling during a name lookup of the script ends the connection at once and leaks nothing")
        func cancellation() async throws {
            for way in 0..<2 {
                let client = Probe(
                    to: ProxyTests.name, using: ProxyTests.parameters([ProxyConfiguration(script: "for (;;);")]))
                client.start()
                try await client.states.first { $0 == .preparing }
                let hasBegun = await eventually { !Script.processes.isEmpty }
                #expect(hasBegun)
                if way == 1 {
                    client.connection.cancelCurrentEndpoint()
                    try await client.states.first { $0 == .waiting(.posix(.ECONNABORTED)) }
                }
                try await client.cancel()
                let isGone = await eventually { Script.processes.isEmpty }
                #expect(isGone)
            }
        }

        @Test("Restarting a waiting connection evaluates the script again")
        func restart() async throws {
            let client = Probe(to: ProxyTests.name, using: ProxyTests.parameters([ProxyConfiguration(script: "(")]))
                .start()
            try await client.states.first { $0 == .waiting(.posix(.ENOEXEC)) }
            client.connection.restart()
            try await client.states.first { $0 == .preparing }
            try await client.states.first { $0 == .waiting(.posix(.ENOEXEC)) }
            try await client.cancel()
        }
    }
}

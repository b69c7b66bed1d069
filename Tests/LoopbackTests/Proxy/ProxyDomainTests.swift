import Causeway
import Testing

// Tests which destinations a proxy configuration applies to.
extension Loopback.ProxyTests {
    @Test("Domains determine whether and which proxy is used")
    func domains() async throws {
        try await Self.withServer { server in
            try await TestProxy.with(.socks(), route: { _ in server.endpoint }) { proxy in
                var other = ProxyConfiguration(httpCONNECTProxy: try Self.closedPlace())
                other.matchDomains = ["example.com"]
                var own = ProxyConfiguration(socksv5Proxy: proxy.endpoint)
                own.matchDomains = ["test"]
                own.excludedDomains = ["127.0.0.0/8"]
                let parameters = Self.parameters([other, own])
                let through = try await Self.exchange(parameters, server)
                #expect(through.usedProxy && through.previousAttemptCount == 0)
                let direct = try await Self.exchange(to: server.endpoint, parameters, server)
                #expect(!direct.usedProxy && !direct.proxyConfigured)
                #expect(proxy.requests.history == ["inner.test:7007"])
            }
        }
    }

    @Test("An empty string among the domains matches every host")
    func emptyDomain() async throws {
        try await Self.withServer { server in
            try await TestProxy.with(.socks(), route: { _ in server.endpoint }) { proxy in
                var configuration = ProxyConfiguration(socksv5Proxy: proxy.endpoint)
                configuration.matchDomains = [""]
                let report = try await Self.exchange(Self.parameters([configuration]), server)
                #expect(report.usedProxy)
            }
        }
    }
}

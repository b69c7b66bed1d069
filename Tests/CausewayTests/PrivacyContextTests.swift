import FoundationEssentials
import Testing

@testable import Causeway

@Suite("Privacy contexts and proxies")
struct PrivacyContextTests {
    private let server = NWEndpoint.hostPort(host: "192.0.2.1", port: 1_080)

    @Test("A context has no settings at first, and keeps its values")
    func settings() {
        let context = NWParameters.PrivacyContext(description: "mine")
        #expect(context.debugDescription == "mine")
        #expect(!context.settings.isLoggingDisabled)
        #expect(!context.settings.requiresEncryptedNames)
        #expect(context.proxyConfigurations.isEmpty)
        context.disableLogging()
        context.requireEncryptedNameResolution(true, fallbackResolver: .tls(server, serverAddresses: []))
        context.proxyConfigurations = [ProxyConfiguration(socksv5Proxy: server)]
        #expect(context.settings.isLoggingDisabled)
        #expect(context.settings.requiresEncryptedNames)
        #expect(context.settings.fallbackResolver?.debugDescription == "DNS over TLS: 192.0.2.1:1080")
        #expect(context.proxyConfigurations.count == 1)
    }

    @Test("Contexts do not share cached names")
    func partitions() throws {
        let (one, other) = (
            NWParameters.PrivacyContext(description: "one"), NWParameters.PrivacyContext(description: "other")
        )
        #expect(one.settings.partition != other.settings.partition)
        #expect(one.settings.partition != NWParameters.PrivacyContext.default.settings.partition)
        let parameters = NWParameters.tcp
        parameters.setPrivacyContext(one)
        #expect(try parameters.makeSocketSettings().resolution.partition == one.settings.partition)
    }

    @Test("Expired answers are used if the parameters allow it")
    func expired() throws {
        let parameters = NWParameters.tcp
        #expect(try !parameters.makeSocketSettings().resolution.allowsExpired)
        parameters.expiredDNSBehavior = .allow
        #expect(try parameters.makeSocketSettings().resolution.allowsExpired)
        parameters.expiredDNSBehavior = .prohibit
        #expect(try !parameters.makeSocketSettings().resolution.allowsExpired)
    }

    @Test("The default context cannot disable logging, and parameters use it by default")
    func defaultContext() {
        NWParameters.PrivacyContext.default.disableLogging()
        #expect(!NWParameters.PrivacyContext.default.settings.isLoggingDisabled)
        #expect(NWParameters.tcp.values.privacyContext === NWParameters.PrivacyContext.default)
    }

    @Test("A DNS-over-HTTPS resolver has a URL")
    func resolver() throws {
        let url = try #require(URL(string: "https://dns.example/dns-query"))
        let resolver = NWParameters.PrivacyContext.ResolverConfiguration.https(url, serverAddresses: [server])
        #expect(resolver.debugDescription == "DNS over HTTPS: https://dns.example/dns-query")
    }

    @Test("A proxy has Apple's defaults, and its credential is copied")
    func proxy() {
        let proxy = ProxyConfiguration(httpCONNECTProxy: server)
        var copy = proxy
        #expect(!proxy.allowFailover)
        #expect(proxy.matchDomains.isEmpty)
        #expect(proxy.excludedDomains.isEmpty)
        #expect(proxy.credential == nil)
        proxy.applyCredential(username: "user", password: "secret")
        #expect(copy.credential == ProxyConfiguration.Credential(username: "user", password: "secret"))
        copy.matchDomains = ["example.org"]
        #expect(proxy.matchDomains.isEmpty)
        #expect(proxy.debugDescription == "HTTP CONNECT 192.0.2.1:1080")
        #expect(!proxy.debugDescription.contains("secret"))
        #expect(ProxyConfiguration(_nw: copy._nw).matchDomains == ["example.org"])
    }

    @Test("Every kind of proxy describes itself")
    func descriptions() {
        let both = ProxyConfiguration.RelayHop(http3RelayEndpoint: server, http2RelayEndpoint: server)
        let http2 = ProxyConfiguration.RelayHop(http2RelayEndpoint: server)
        let oblivious = ProxyConfiguration(
            obliviousHTTPRelay: http2, relayResourcePath: "/relay", gatewayKeyConfig: Data([1]), matchDomains: ["a"])
        #expect(oblivious.matchDomains == ["a"])
        #expect(
            [
                ProxyConfiguration(socksv5Proxy: server),
                ProxyConfiguration(httpCONNECTProxy: server, tlsOptions: NWProtocolTLS.Options()),
                ProxyConfiguration(relayHops: [both, http2]), oblivious,
            ].map(\.debugDescription) == [
                "SOCKSv5 192.0.2.1:1080", "HTTP CONNECT 192.0.2.1:1080 over TLS",
                "relay h3 192.0.2.1:1080 or h2 192.0.2.1:1080, h2 192.0.2.1:1080",
                "oblivious HTTP h2 192.0.2.1:1080 /relay",
            ])
    }
}

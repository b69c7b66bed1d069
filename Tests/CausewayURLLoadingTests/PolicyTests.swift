import Causeway
import CausewayHTTP
import CausewayProtocols
import CausewayWire
import Dispatch
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Settings of connections (§2, §22)")
struct PolicyTests {
    private static let origin = HTTPOrigin(isSecure: true, host: "example.com")

    private static func parameters(
        _ change: (URLSessionConfiguration) -> Void = { _ in }, _ request: (inout URLRequest) -> Void = { _ in }
    ) -> NWParameters {
        let configuration = URLSessionConfiguration.unhurried
        configuration.connectionProxyDictionary = [:]
        change(configuration)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var value = URLRequest(url: URL(string: "https://example.com/")!)
        request(&value)
        let needs = ConnectionNeeds(session.core.completed(value).values)
        return session.core.network.makeParameters(for: origin, needs)
    }

    @Test("Without settings a connection has no restriction but the one of ultra-constrained interfaces")
    func plain() {
        let parameters = Self.parameters()
        #expect(!parameters.prohibitExpensivePaths && !parameters.prohibitConstrainedPaths)
        #expect(!parameters.allowUltraConstrainedPaths && parameters.prohibitedInterfaceTypes?.isEmpty != false)
        #expect(parameters.serviceClass == .bestEffort && parameters.multipathServiceType == .disabled)
        #expect(!parameters.requiresDNSSECValidation)
    }

    @Test("Restrictions of the session and of the request reach the connection", arguments: [true, false])
    func restrictions(_ isOfSession: Bool) {
        let parameters = Self.parameters(
            {
                guard isOfSession else { return }
                $0.allowsCellularAccess = false
                $0.allowsExpensiveNetworkAccess = false
                $0.allowsConstrainedNetworkAccess = false
                $0.requiresDNSSECValidation = true
            },
            {
                guard !isOfSession else { return }
                $0.allowsCellularAccess = false
                $0.allowsExpensiveNetworkAccess = false
                $0.allowsConstrainedNetworkAccess = false
                $0.requiresDNSSECValidation = true
            })
        #expect(parameters.prohibitExpensivePaths && parameters.prohibitConstrainedPaths)
        #expect(parameters.prohibitedInterfaceTypes == [.cellular] && parameters.requiresDNSSECValidation)
    }

    @Test("Ultra-constrained interfaces need the permission of both")
    func ultraConstrained() {
        for (session, request) in [(true, true), (true, false), (false, true)] {
            let parameters = Self.parameters(
                { $0.allowsUltraConstrainedNetworkAccess = session },
                { $0.allowsUltraConstrainedNetworkAccess = request })
            #expect(parameters.allowUltraConstrainedPaths == (session && request))
        }
    }

    @Test(
        "The service type of the request selects the service class; otherwise that of the session",
        arguments: [
            (NSURLRequest.NetworkServiceType.background, NWParameters.ServiceClass.background),
            (.video, .interactiveVideo), (.avStreaming, .interactiveVideo), (.responsiveAV, .interactiveVideo),
            (.voice, .interactiveVoice), (.responsiveData, .responsiveData), (.callSignaling, .signaling),
            (.voip, .bestEffort),
        ])
    func serviceTypes(_ type: NSURLRequest.NetworkServiceType, _ expected: NWParameters.ServiceClass) {
        #expect(Self.parameters({ $0.networkServiceType = type }).serviceClass == expected)
        let ofRequest = Self.parameters({ $0.networkServiceType = .voice }, { $0.networkServiceType = type })
        #expect(ofRequest.serviceClass == expected)
    }

    @Test(
        "Multipath",
        arguments: [
            (URLSessionConfiguration.MultipathServiceType.handover, NWParameters.MultipathServiceType.handover),
            (.interactive, .interactive), (.aggregate, .aggregate), (.none, .disabled),
        ])
    func multipath(
        _ type: URLSessionConfiguration.MultipathServiceType, _ expected: NWParameters.MultipathServiceType
    ) {
        #expect(Self.parameters({ $0.multipathServiceType = type }).multipathServiceType == expected)
    }

    @Test("Requests with equal needs share an engine, others do not")
    func engines() throws {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: URL(string: "https://example.com/")!)
        let network = session.core.network
        let first = try #require(network.engine(for: ConnectionNeeds(request.values), isSecure: false)?.engine)
        request.setValue("b", forHTTPHeaderField: "A")
        #expect(network.engine(for: ConnectionNeeds(request.values), isSecure: false)?.engine === first)
        request.networkServiceType = .voice
        #expect(network.engine(for: ConnectionNeeds(request.values), isSecure: false)?.engine !== first)
    }

    @Test("Through a proxy, alternative services are not noted (RFC 7838 §2.4)", arguments: [true, false])
    func alternatives(_ isProxied: Bool) throws {
        var settings = SessionSettings.inMemory
        let proxies: [AnyHashable: Any] = [
            kCFNetworkProxiesHTTPSEnable: 1, kCFNetworkProxiesHTTPSProxy: "proxy.test",
            kCFNetworkProxiesHTTPSPort: 8_080,
        ]
        settings.transport.proxyDictionary = isProxied ? proxies : [:]
        let network = HTTPNetwork(Unchecked(settings), queue: DispatchQueue(label: "alternatives"))
        // Read the proxy settings first. Connections also read them before the first response arrives.
        _ = try network.proxies(isSecure: true)
        var fields = FieldSection()
        fields.append("Alt-Svc", "h2=\":8443\"")
        network.noteAlternatives(HTTPResponseHead(status: 200, fields: fields), of: Self.origin)
        #expect((network.alternatives.alternative(for: Self.origin) == nil) == isProxied)
    }

    @Test(
        "Values of a proxy dictionary can be numbers, text or URLs; * before a name of the exceptions means its domain")
    func dictionary() throws {
        var transport = SessionSettings.Transport()
        transport.proxyDictionary = [
            kCFNetworkProxiesHTTPEnable: NSNumber(value: 1), kCFNetworkProxiesHTTPProxy: "proxy.test",
            kCFNetworkProxiesHTTPPort: "8080", kCFNetworkProxiesExceptionsList: ["*.inner.test", "localhost"],
            kCFNetworkProxiesFTPEnable: 1, kCFNetworkProxiesFTPProxy: "ftp.test",
        ]
        let proxies = try ProxySettings(transport).proxies(for: "http")
        #expect(proxies.count == 1 && proxies.first?.excludedDomains == ["inner.test", "localhost"])
        #expect(try ProxySettings(transport).proxies(for: "https").isEmpty)
        transport.proxyDictionary?[kCFNetworkProxiesProxyAutoDiscoveryEnable] = true
        #expect(throws: NWError.posix(.ENOTSUP)) { try ProxySettings(transport).proxies(for: "http") }
        // A list of proxies takes precedence. If it is set, the dictionary is not used.
        transport.proxies = [ProxyConfiguration(socksv5Proxy: .hostPort(host: "socks.test", port: 1080))]
        #expect(try ProxySettings(transport).proxies(for: "http").count == 1)
    }
}

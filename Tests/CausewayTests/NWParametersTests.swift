import Testing

@testable import Causeway

@Suite("Parameters")
struct NWParametersTests {
    struct Preset: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable () -> NWParameters
        let summary: String
    }

    static let presets: [Preset] = [
        Preset(testDescription: "tcp", make: { .tcp }, summary: "tcp, ip"),
        Preset(testDescription: "udp", make: { .udp }, summary: "udp, ip"),
        Preset(testDescription: "tls", make: { .tls }, summary: "tls, tcp, ip"),
        Preset(testDescription: "dtls", make: { .dtls }, summary: "tls, udp, ip"),
        Preset(testDescription: "quic", make: { .quic(alpn: ["h3"]) }, summary: "quic, ip"),
        Preset(testDescription: "quicDatagram", make: { .quicDatagram(alpn: ["h3"]) }, summary: "quic, ip"),
        Preset(testDescription: "applicationService", make: { .applicationService }, summary: "tls, tcp, ip"),
        Preset(testDescription: "init()", make: { NWParameters() }, summary: "ip"),
        Preset(testDescription: "init(tls: nil)", make: { NWParameters(tls: nil) }, summary: "tcp, ip"),
        Preset(testDescription: "custom IP", make: { .init(customIPProtocolNumber: 253) }, summary: "custom-ip, ip"),
    ]

    @Test("A preset has its stack and is a new object each time", arguments: presets)
    func preset(_ preset: Preset) {
        let first = preset.make()
        let second = preset.make()
        #expect(first.defaultProtocolStack.summary == preset.summary)
        #expect(first !== second)
        #expect(first.defaultProtocolStack !== second.defaultProtocolStack)
        #expect(first.defaultProtocolStack.internetProtocol !== second.defaultProtocolStack.internetProtocol)
        #expect(first.defaultProtocolStack.internetProtocol is NWProtocolIP.Options)
        #expect(first.parameters === first)
    }

    @Test("Properties have Apple's defaults")
    func defaults() {
        let parameters = NWParameters.tcp
        #expect(parameters.requiredInterface == nil)
        #expect(parameters.requiredInterfaceType == .other)
        #expect(parameters.prohibitedInterfaces == nil)
        #expect(parameters.prohibitedInterfaceTypes == nil)
        #expect(!parameters.prohibitExpensivePaths)
        #expect(!parameters.prohibitConstrainedPaths)
        #expect(!parameters.allowUltraConstrainedPaths)
        #expect(!parameters.preferNoProxies)
        #expect(parameters.requiredLocalEndpoint == nil)
        #expect(!parameters.allowLocalEndpointReuse)
        #expect(!parameters.acceptLocalOnly)
        #expect(!parameters.includePeerToPeer)
        #expect(!parameters.requiresDNSSECValidation)
        #expect(parameters.serviceClass == .bestEffort)
        #expect(parameters.multipathServiceType == .disabled)
        #expect(!parameters.allowFastOpen)
        #expect(parameters.expiredDNSBehavior == .systemDefault)
        #expect(parameters.attribution == .developer)
        #expect(parameters.debugDescription == "tcp, ip, attribution: developer")
        #expect(NWParameters.applicationService.includePeerToPeer)
    }

    @Test("The given option objects are in the stack, and changes of them take effect")
    func liveReferences() throws {
        let tcp = NWProtocolTCP.Options()
        let tls = NWProtocolTLS.Options()
        let parameters = NWParameters(tls: tls, tcp: tcp)
        let stack = parameters.defaultProtocolStack
        #expect(stack === parameters.defaultProtocolStack)
        #expect(stack.transportProtocol === tcp)
        #expect(stack.applicationProtocols.first === tls)
        let ip = try #require(stack.internetProtocol as? NWProtocolIP.Options)
        ip.version = .v6
        #expect((parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options)?.version == .v6)
        stack.applicationProtocols.insert(NWProtocolQUIC.Options(), at: 0)
        #expect(parameters.defaultProtocolStack.summary == "quic, tls, tcp, ip")
        stack.transportProtocol = nil
        stack.internetProtocol = nil
        #expect(parameters.defaultProtocolStack.summary == "quic, tls")
    }

    @Test("A copy has every value and shares no option")
    func copyIsDeep() throws {
        let original = everythingChanged()
        let copy = original.copy()
        #expect(copy !== original)
        #expect(copy.debugDescription == original.debugDescription)
        let originalTCP = try #require(original.defaultProtocolStack.transportProtocol as? NWProtocolTCP.Options)
        let copiedTCP = try #require(copy.defaultProtocolStack.transportProtocol as? NWProtocolTCP.Options)
        #expect(copiedTCP.noDelay)
        copiedTCP.noDelay = false
        #expect(originalTCP.noDelay)
        #expect(copy.defaultProtocolStack.applicationProtocols.first is NWProtocolTLS.Options)
        #expect(
            copy.defaultProtocolStack.applicationProtocols.first
                !== original.defaultProtocolStack.applicationProtocols.first)
        #expect(copy.defaultProtocolStack.internetProtocol !== original.defaultProtocolStack.internetProtocol)
        copy.serviceClass = .background
        copy.requiredLocalEndpoint = nil
        #expect(original.serviceClass == .signaling)
        #expect(original.requiredLocalEndpoint != nil)
        #expect(copy.values.privacyContext === original.values.privacyContext)
    }

    @Test("The description lists every changed property")
    func description() {
        let expected = [
            "tls, tcp, ip", "prohibit expensive paths", "prohibit constrained paths", "allow ultra constrained paths",
            "prefer no proxies", "reuse local endpoint", "accept local only", "include peer-to-peer",
            "require DNSSEC", "fast open", "service class: signaling", "multipath: handover", "expired DNS: allow",
            "required interface type: wifi", "privacy context: mine", "required interface: test0",
            #"prohibited interfaces: ["test1"]"#, "local endpoint: 127.0.0.1:5000", "attribution: user",
        ]
        let description = everythingChanged().debugDescription
        for part in expected {
            #expect(description.contains(part))
        }
    }

    @Test("Chained methods set the property with their name")
    func provider() {
        let interface = NWInterface(name: "test0", index: 900, type: .wifi)
        let parameters = NWParameters.tcp
        let chained = parameters.requiredInterface(interface).requiredInterfaceType(.wifi)
            .prohibitedInterfaces([interface]).prohibitedInterfaceTypes([.cellular]).expensivePathsProhibited(true)
            .constrainedPathsProhibited(true).noProxiesPreferred(true).localPort(5_000)
            .localEndpointReuseAllowed(true).localOnly(true).peerToPeerIncluded(true).dnssecValidationRequired(true)
            .serviceClass(.responsiveData).multipathServiceType(.aggregate).fastOpenAllowed(true)
            .expiredDNSBehavior(.prohibit).ultraConstrainedPathsAllowed(true)
        #expect(chained === parameters)
        #expect(parameters.requiredInterface == interface)
        #expect(parameters.requiredInterfaceType == .wifi)
        #expect(parameters.prohibitedInterfaces == [interface])
        #expect(parameters.prohibitedInterfaceTypes == [.cellular])
        #expect(parameters.prohibitExpensivePaths)
        #expect(parameters.prohibitConstrainedPaths)
        #expect(parameters.preferNoProxies)
        #expect(parameters.requiredLocalEndpoint == .hostPort(host: .ipv6(.any), port: 5_000))
        #expect(parameters.allowLocalEndpointReuse)
        #expect(parameters.acceptLocalOnly)
        #expect(parameters.includePeerToPeer)
        #expect(parameters.requiresDNSSECValidation)
        #expect(parameters.serviceClass == .responsiveData)
        #expect(parameters.multipathServiceType == .aggregate)
        #expect(parameters.allowFastOpen)
        #expect(parameters.expiredDNSBehavior == .prohibit)
        #expect(parameters.allowUltraConstrainedPaths)
        #expect(parameters.localEndpoint(nil).requiredLocalEndpoint == nil)
    }

    @Test("For a proxy script's fetch, an empty list of prohibited interfaces counts as none")
    func emptyLists() {
        let (parameters, other) = (NWParameters.tcp, NWParameters.tcp)
        (parameters.prohibitedInterfaces, parameters.prohibitedInterfaceTypes) = ([], [])
        #expect(parameters.values.paths != other.values.paths)
        #expect(parameters.values.paths.normalized == other.values.paths)
        other.prohibitedInterfaceTypes = [.cellular]
        parameters.limitPaths(to: other.values.paths.normalized)
        #expect(parameters.prohibitedInterfaces == nil && parameters.prohibitedInterfaceTypes == [.cellular])
    }

    private func everythingChanged() -> NWParameters {
        let tcp = NWProtocolTCP.Options()
        tcp.noDelay = true
        let parameters = NWParameters(tls: NWProtocolTLS.Options(), tcp: tcp)
        parameters.requiredInterface = NWInterface(name: "test0", index: 900, type: .wifi)
        parameters.requiredInterfaceType = .wifi
        parameters.prohibitedInterfaces = [NWInterface(name: "test1", index: 901, type: .other)]
        parameters.prohibitedInterfaceTypes = [.cellular]
        parameters.prohibitExpensivePaths = true
        parameters.prohibitConstrainedPaths = true
        parameters.allowUltraConstrainedPaths = true
        parameters.preferNoProxies = true
        parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: 5_000)
        parameters.allowLocalEndpointReuse = true
        parameters.acceptLocalOnly = true
        parameters.includePeerToPeer = true
        parameters.requiresDNSSECValidation = true
        parameters.serviceClass = .signaling
        parameters.multipathServiceType = .handover
        parameters.allowFastOpen = true
        parameters.expiredDNSBehavior = .allow
        parameters.attribution = .user
        parameters.setPrivacyContext(NWParameters.PrivacyContext(description: "mine"))
        return parameters
    }
}

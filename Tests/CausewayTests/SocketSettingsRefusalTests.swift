import CausewayRuntime
import Testing

@testable import Causeway

@Suite("Parameters that no socket supports")
struct SocketSettingsRefusalTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable () -> NWParameters

        init(_ name: String, _ make: @escaping @Sendable () -> NWParameters) {
            testDescription = name
            self.make = make
        }
    }

    static let unsupported: [Row] = [
        Row("QUIC", { .quic(alpn: ["h3"]) }),
        Row("QUIC datagrams", { .quicDatagram(alpn: ["h3"]) }),
        Row("custom IP", { NWParameters(customIPProtocolNumber: 253) }),
        Row("unknown network layer", { internetProtocol(NWProtocolUDP.Options()) }),
        Row("unknown transport", { transportProtocol(NWProtocolTLS.Options()) }),
        Row("DNSSEC", { .tcp.dnssecValidationRequired(true) }),
        Row("proxy", { proxied { _ in } }),
        Row("encrypted names", { encryptedNames() }),
    ]

    @Test("Unsupported options are refused and never ignored", arguments: unsupported)
    func refusesUnsupported(_ row: Row) {
        #expect(throws: NWError.posix(.ENOTSUP)) { try row.make().makeListenerSettings() }
    }

    static let invalid: [Row] = [
        Row("no transport", { NWParameters() }),
        Row("negative idle time", { tcp { $0.keepaliveIdle = -1 } }),
        Row("negative interval", { tcp { $0.keepaliveInterval = -1 } }),
        Row("negative count", { tcp { $0.keepaliveCount = -1 } }),
        Row("negative segment", { tcp { $0.maximumSegmentSize = -1 } }),
        Row("tiny segment", { tcp { $0.maximumSegmentSize = 87 } }),
        Row("negative connection timeout", { tcp { $0.connectionTimeout = -1 } }),
        Row("negative drop time", { tcp { $0.connectionDropTime = -1 } }),
        Row("negative persist timeout", { tcp { $0.persistTimeout = -1 } }),
        Row("local name", { local(.hostPort(host: "host.example", port: 80)) }),
        Row("local service", { local(.service(name: "a", type: "_http._tcp", domain: "local", interface: nil)) }),
        Row("IPv4 address, IPv6 only", { local(.hostPort(host: "127.0.0.1", port: 80), .v6) }),
        Row("IPv6 address, IPv4 only", { local(.hostPort(host: "::1", port: 80), .v4) }),
    ]

    @Test("Invalid options are refused", arguments: invalid)
    func refusesInvalid(_ row: Row) {
        #expect(throws: NWError.posix(.EINVAL)) { try row.make().makeSocketSettings() }
    }

    static let direct: [Row] = [
        Row("proxy with failover", { proxied { $0.allowFailover = true } }),
        Row("proxy as a fallback", { proxied { _ in }.noProxiesPreferred(true) }),
    ]

    @Test("A proxy that may be bypassed does not prevent a direct connection", arguments: direct)
    func goesDirect(_ row: Row) throws {
        let parameters = row.make()
        var expected = SocketSettings(transport: .tcp)
        expected.resolution.partition = parameters.values.privacyContext.settings.partition
        #expect(try parameters.makeSocketSettings() == expected)
    }

    private static func tcp(_ change: (NWProtocolTCP.Options) -> Void) -> NWParameters {
        let options = NWProtocolTCP.Options()
        change(options)
        return NWParameters(tls: nil, tcp: options)
    }

    private static func local(_ endpoint: NWEndpoint, _ version: NWProtocolIP.Options.Version = .any) -> NWParameters {
        let options = NWProtocolIP.Options()
        options.version = version
        return internetProtocol(options).localEndpoint(endpoint)
    }

    private static func internetProtocol(_ options: NWProtocolOptions) -> NWParameters {
        let parameters = NWParameters.tcp
        parameters.defaultProtocolStack.internetProtocol = options
        return parameters
    }

    private static func transportProtocol(_ options: NWProtocolOptions) -> NWParameters {
        let parameters = NWParameters.tcp
        parameters.defaultProtocolStack.transportProtocol = options
        return parameters
    }

    private static func proxied(_ change: (inout ProxyConfiguration) -> Void) -> NWParameters {
        var proxy = ProxyConfiguration(socksv5Proxy: .unix(path: "/run/proxy"))
        change(&proxy)
        let context = NWParameters.PrivacyContext(description: "test")
        context.proxyConfigurations = [proxy]
        let parameters = NWParameters.tcp
        parameters.setPrivacyContext(context)
        return parameters
    }

    private static func encryptedNames() -> NWParameters {
        let context = NWParameters.PrivacyContext(description: "test")
        context.requireEncryptedNameResolution(true, fallbackResolver: nil)
        let parameters = NWParameters.tcp
        parameters.setPrivacyContext(context)
        return parameters
    }
}

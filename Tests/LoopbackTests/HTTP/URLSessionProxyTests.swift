import Causeway
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: proxies (§9, §16, §22)")
    struct URLSessionProxyTests {
        /// The setting through which a session learns of its proxy.
        enum Setting: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case http, https, socks, configuration, script

            var testDescription: String { rawValue }

            func apply(_ proxy: TestProxy, to configuration: URLSessionConfiguration) {
                guard case .hostPort(_, let port) = proxy.endpoint else { return }
                let number = Int(port.rawValue)
                switch self {
                case .http, .https, .socks:
                    let name = rawValue.uppercased()
                    configuration.connectionProxyDictionary = [
                        "\(name)Enable": 1, "\(name)Proxy": "127.0.0.1", "\(name)Port": number,
                    ]
                case .configuration:
                    // The proxy configurations take precedence over the proxy dictionary.
                    configuration.connectionProxyDictionary = [:]
                    configuration.proxyConfigurations = [ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)]
                case .script:
                    configuration.connectionProxyDictionary = [
                        kCFNetworkProxiesProxyAutoConfigEnable: true,
                        kCFNetworkProxiesProxyAutoConfigJavaScript:
                            "function FindProxyForURL(url, host) { return 'PROXY 127.0.0.1:\(number)' }",
                    ]
                }
            }
        }

        /// The endpoint of a server in these tests.
        private static func endpoint(_ uri: String) throws -> NWEndpoint {
            let port = try #require(URL(string: uri)?.port.flatMap { UInt16(exactly: $0) })
            return .hostPort(host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: port))
        }

        /// Returns a proxy dictionary that names the given HTTP proxy. The proxy demands a credential.
        private static func dictionary(_ proxy: TestProxy, _ more: [AnyHashable: Any] = [:]) -> [AnyHashable: Any] {
            guard case .hostPort(_, let port) = proxy.endpoint else { return [:] }
            let base: [AnyHashable: Any] = [
                kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                kCFNetworkProxiesHTTPPort: Int(port.rawValue),
            ]
            return base.merging(more) { $1 }
        }

        @Test("Requests go through the proxy that the configuration names", arguments: Setting.allCases)
        func settings(_ setting: Setting) async throws {
            let authority = try HTTPAuthority()
            let secure = try await MachineServer(tls: authority.serverOptions(["h2"])) { _ in
                MachineServer.Reply(content: Data("GET ".utf8))
            }
            defer { secure.stop() }
            let plain = try echoServer()
            let scheme = setting == .https ? "https" : "http"
            let server = setting == .https ? secure.endpoint : try Self.endpoint(plain.uri())
            try await TestProxy.with(setting == .socks ? .socks() : .http(), route: { _ in server }) { proxy in
                let session = privateSession(
                    EventDelegate { challenge in
                        (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
                    }
                ) { setting.apply(proxy, to: $0) }
                defer { session.invalidateAndCancel() }
                let metrics = MetricsDelegate()
                let url = try #require(URL(string: "\(scheme)://bücher.test/x"))
                let (data, _) = try await session.data(from: url, delegate: metrics)
                #expect(String(decoding: data, as: UTF8.self) == "GET ")
                let expected =
                    switch setting {
                    case .https: "xn--bcher-kva.test:443"
                    case .socks: "xn--bcher-kva.test:80"
                    case .http, .configuration, .script: "http://xn--bcher-kva.test/x"
                    }
                #expect(try await proxy.requests.next() == expected)
                let transaction = try #require(metrics.metrics?.transactionMetrics.first)
                #expect(transaction.isProxyConnection)
                #expect(transaction.networkProtocolName == (setting == .https ? "h2" : "http/1.1"))
            }
        }

        @Test("An exception, another scheme and an empty dictionary connect directly", arguments: 0..<3)
        func direct(_ kind: Int) async throws {
            let server = try echoServer()
            try await TestProxy.with(.refusing("HTTP/1.1 500 No\r\n\r\n"), route: { _ in nil }) { proxy in
                let session = privateSession { configuration in
                    let port = Self.dictionary(proxy)[kCFNetworkProxiesHTTPPort] ?? 0
                    configuration.connectionProxyDictionary =
                        switch kind {
                        case 0: Self.dictionary(proxy, [kCFNetworkProxiesExceptionsList: ["*.test", "127.0.0.1"]])
                        case 1: ["HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": port]
                        default: [:]
                        }
                }
                defer { session.invalidateAndCancel() }
                let metrics = MetricsDelegate()
                let url = try #require(URL(string: server.uri()))
                let (data, _) = try await session.data(from: url, delegate: metrics)
                #expect(String(decoding: data, as: UTF8.self) == "GET ")
                #expect(metrics.metrics?.transactionMetrics.first?.isProxyConnection == false)
            }
        }

        @Test(
            "User and password of the dictionary answer the proxy; without them its response is delivered",
            arguments: [true, false])
        func credentials(_ hasCredential: Bool) async throws {
            let server = try echoServer()
            let endpoint = try Self.endpoint(server.uri())
            try await TestProxy.with(.http(credential: "ann:secret"), route: { _ in endpoint }) { proxy in
                let session = privateSession {
                    let credential = [kCFProxyUsernameKey: "ann", kCFProxyPasswordKey: "secret"]
                    $0.connectionProxyDictionary = Self.dictionary(proxy, hasCredential ? credential : [:])
                }
                defer { session.invalidateAndCancel() }
                let url = try #require(URL(string: "http://inner.test/"))
                guard hasCredential else {
                    let (data, response) = try await session.data(from: url)
                    #expect((response as? HTTPURLResponse)?.statusCode == 407 && data == Data("who?\n".utf8))
                    #expect(server.acceptedCount == 0)
                    return
                }
                #expect(try await session.data(from: url).0 == Data("GET ".utf8))
            }
        }

        @Test("A proxy that is enabled without a host is an error, and not bypassed")
        func invalid() async throws {
            let server = try echoServer()
            let session = privateSession { $0.connectionProxyDictionary = [kCFNetworkProxiesHTTPEnable: 1] }
            let url = try #require(URL(string: server.uri()))
            #expect(await failureCode { _ = try await session.data(from: url) } == .cannotConnectToHost)
            #expect(server.acceptedCount == 0)
        }
    }
}

import Causeway
import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: policies of connections (§4, §16, §18, §22, §25)")
    struct URLSessionPolicyTests {
        private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

        private static func port(_ endpoint: NWEndpoint) -> Int {
            guard case .hostPort(_, let port) = endpoint else { return 0 }
            return Int(port.rawValue)
        }

        private static func endpoint(_ server: ScriptedServer) throws -> NWEndpoint {
            let port = try #require(URL(string: server.uri())?.port.flatMap { UInt16(exactly: $0) })
            return .hostPort(host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: port))
        }

        // MARK: Interfaces

        @Test("§18, §25: each forbidden kind of interface fails the task with its reason, by session and by request")
        func reasons() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 600)
                setenv("CAUSEWAY_INTERFACES", "lo=cellular+expensive+ultra-constrained", 1)
                let server = try echoServer()
                var request = URLRequest(url: try #require(URL(string: server.uri())))
                request.allowsUltraConstrainedNetworkAccess = true
                typealias Row = (
                    reason: URLError.NetworkUnavailableReason,
                    session: ReferenceWritableKeyPath<URLSessionConfiguration, Bool>,
                    request: WritableKeyPath<URLRequest, Bool>
                )
                let rows: [Row] = [
                    (.cellular, \.allowsCellularAccess, \.allowsCellularAccess),
                    (.expensive, \.allowsExpensiveNetworkAccess, \.allowsExpensiveNetworkAccess),
                    (.constrained, \.allowsConstrainedNetworkAccess, \.allowsConstrainedNetworkAccess),
                    (.ultraConstrained, \.allowsUltraConstrainedNetworkAccess, \.allowsUltraConstrainedNetworkAccess),
                ]
                for row in rows {
                    for isOfSession in [true, false] {
                        let session = privateSession {
                            $0.allowsUltraConstrainedNetworkAccess = true
                            if isOfSession { $0[keyPath: row.session] = false }
                        }
                        var restricted = request
                        if !isOfSession { restricted[keyPath: row.request] = false }
                        let error = await failure { [restricted] in _ = try await session.data(for: restricted) }
                        #expect(error?.code == .notConnectedToInternet, "\(row.reason) \(isOfSession)")
                        #expect(error?.networkUnavailableReason == row.reason, "\(row.reason) \(isOfSession)")
                    }
                }
                #expect(server.acceptedCount == 0)
                let metrics = MetricsDelegate()
                let session = privateSession { $0.allowsUltraConstrainedNetworkAccess = true }
                _ = try await session.data(for: request, delegate: metrics)
                let transaction = try #require(metrics.metrics?.transactionMetrics.first)
                #expect(transaction.isCellular && transaction.isExpensive && transaction.isConstrained)
            }
        }

        @Test("§18: without an interface of the forbidden kind, the error has no reason")
        func noReason() async throws {
            let session = privateSession { $0.allowsCellularAccess = false }
            // The kernel connects no stream to a group address.
            let url = try Self.url("http://224.0.0.1:9/")
            let error = await failure { _ = try await session.data(from: url) }
            #expect(error?.code == .notConnectedToInternet && error?.networkUnavailableReason == nil)
        }

        @Test(
            "§25: a task that may wait fails at once if the connection is refused, the name unknown, or the path breaks",
            arguments: [
                ("http://127.0.0.1:1/", URLError.Code.cannotConnectToHost), ("http://name.invalid/", .cannotFindHost),
                ("", .networkConnectionLost),
            ])
        func failsAtOnce(_ text: String, _ code: URLError.Code) async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
            }
            let url = try Self.url(text.isEmpty ? server.uri() : text)
            let session = privateSession { $0.waitsForConnectivity = true }
            #expect(await failureCode { _ = try await session.data(from: url) } == code)
        }

        // MARK: Other settings

        @Test("A task that requires DNSSEC fails with the reason, and nothing is sent", arguments: [true, false])
        func dnssec(_ isOfSession: Bool) async throws {
            let server = try echoServer()
            let session = privateSession { $0.requiresDNSSECValidation = isOfSession }
            var request = URLRequest(url: try Self.url(server.uri()))
            request.requiresDNSSECValidation = !isOfSession
            let error = await failure { [request] in _ = try await session.data(for: request) }
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.userInfo[NSUnderlyingErrorKey] as? NWError == .posix(.ENOTSUP))
            let reason = error?.userInfo[NSLocalizedFailureReasonErrorKey] as? String
            #expect(reason?.contains("DNSSEC") == true)
            #expect(server.acceptedCount == 0)
        }

        @Test("Settings that improve a connection do not prevent it; each service type has its own connections")
        func improvements() async throws {
            let server = try echoServer()
            let session = privateSession {
                $0.multipathServiceType = .handover
                $0.networkServiceType = .video
                $0.enablesEarlyData = true
                $0.usesClassicLoadingMode = false
                $0.httpShouldUsePipelining = true
                $0.shouldUseExtendedBackgroundIdleMode = true
            }
            var request = URLRequest(url: try Self.url(server.uri()))
            for type in [NSURLRequest.NetworkServiceType.default, .video, .voice, .voice] {
                request.networkServiceType = type
                let metrics = MetricsDelegate()
                #expect(try await session.data(for: request, delegate: metrics).0 == Data("GET ".utf8))
                // The server uses plain TCP, not Multipath TCP.
                #expect(metrics.metrics?.transactionMetrics.first?.isMultipath == false)
            }
            #expect(server.acceptedCount == 2)
        }

        // MARK: Proxies

        @Test("§22: proxies that cannot be used fail the task with the reason, and are not bypassed", arguments: 0..<4)
        func unusable(_ kind: Int) async throws {
            let server = try echoServer()
            let session = privateSession {
                $0.connectionProxyDictionary =
                    switch kind {
                    case 0: [kCFNetworkProxiesProxyAutoDiscoveryEnable: 1]
                    case 1: [kCFNetworkProxiesSOCKSEnable: 1, kCFNetworkProxiesSOCKSProxy: "h", "SOCKSPort": 70_000]
                    case 2: [kCFNetworkProxiesProxyAutoConfigEnable: 1]
                    default: ["HTTPEnable": NSNumber(value: true), "HTTPProxy": "127.0.0.1", "HTTPPort": "1"]
                    }
            }
            let url = try Self.url(server.uri())
            let error = await failure { _ = try await session.data(from: url) }
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.userInfo[NSUnderlyingErrorKey] is NWError)
            if kind < 3 { #expect(error?.userInfo[NSLocalizedFailureReasonErrorKey] != nil) }
            #expect(server.acceptedCount == 0)
        }

        @Test(
            "§22: a script that a server delivers chooses the proxy; without the script the task fails",
            arguments: [true, false])
        func script(_ exists: Bool) async throws {
            let server = try echoServer()
            let target = try Self.endpoint(server)
            try await TestProxy.with(.http(), route: { _ in target }) { proxy in
                let text =
                    "function FindProxyForURL(url, host) { return 'PROXY 127.0.0.1:\(Self.port(proxy.endpoint))' }"
                let scripts = try echoServer { _ in
                    exists
                        ? reply("200 OK", ["Content-Type: application/x-ns-proxy-autoconfig"], text)
                        : reply("404 Not Found")
                }
                let session = privateSession {
                    $0.connectionProxyDictionary = [
                        kCFNetworkProxiesProxyAutoConfigEnable: true,
                        kCFNetworkProxiesProxyAutoConfigURLString: scripts.uri("/proxy.pac"),
                    ]
                }
                defer { session.invalidateAndCancel() }
                guard exists else {
                    let url = try Self.url(server.uri())
                    #expect(await failureCode { _ = try await session.data(from: url) } == .cannotConnectToHost)
                    #expect(server.acceptedCount == 0)
                    return
                }
                let url = try Self.url("http://inner.test/")
                #expect(try await session.data(from: url).0 == Data("GET ".utf8))
                #expect(try await proxy.requests.next() == "http://inner.test/")
            }
        }

        @Test("§22: without a dictionary the environment names the proxy and the exceptions")
        func environment() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 600)
                let server = try echoServer()
                let target = try Self.endpoint(server)
                try await TestProxy.with(.http(), route: { _ in target }) { proxy in
                    setenv("http_proxy", "http://127.0.0.1:\(Self.port(proxy.endpoint))", 1)
                    setenv("no_proxy", "127.0.0.1", 1)
                    let session = privateSession { $0.connectionProxyDictionary = nil }
                    defer { session.invalidateAndCancel() }
                    for (text, isProxied) in [("http://inner.test/", true), (server.uri(), false)] {
                        let metrics = MetricsDelegate()
                        let url = try Self.url(text)
                        #expect(try await session.data(from: url, delegate: metrics).0 == Data("GET ".utf8))
                        #expect(metrics.metrics?.transactionMetrics.first?.isProxyConnection == isProxied)
                    }
                }
            }
        }

        @Test("§22: a proxy that fails is left only if it permits failover; domains select proxies", arguments: 0..<4)
        func configurations(_ kind: Int) async throws {
            let server = try echoServer()
            let target = try Self.endpoint(server)
            try await TestProxy.with(.http(), route: { _ in target }) { proxy in
                var dead = ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "127.0.0.1", port: 1))
                dead.allowFailover = kind == 1
                switch kind {
                case 2: dead.excludedDomains = ["127.0.0.1"]
                case 3: dead.matchDomains = ["other.test"]
                default: break
                }
                let working = ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)
                let session = privateSession {
                    $0.proxyConfigurations = kind == 1 ? [dead, working] : [dead]
                }
                defer { session.invalidateAndCancel() }
                let url = try Self.url(kind == 1 ? "http://inner.test/" : server.uri())
                guard kind > 0 else {
                    #expect(await failureCode { _ = try await session.data(from: url) } == .cannotConnectToHost)
                    #expect(server.acceptedCount == 0)
                    return
                }
                #expect(try await session.data(from: url).0 == Data("GET ".utf8))
            }
        }

        @Test("§15, §22: a stream task goes through the proxy of its session")
        func stream() async throws {
            let server = try ScriptedServer { peer in
                let line = try await peer.read(line: ())
                try await peer.write("\(line)!\r\n")
            }
            let target = try Self.endpoint(server)
            try await TestProxy.with(.socks(), route: { _ in target }) { proxy in
                let session = privateSession {
                    $0.connectionProxyDictionary = [
                        kCFNetworkProxiesSOCKSEnable: 1, kCFNetworkProxiesSOCKSProxy: "127.0.0.1",
                        kCFNetworkProxiesSOCKSPort: Self.port(proxy.endpoint),
                    ]
                }
                defer { session.invalidateAndCancel() }
                let task = session.streamTask(withHostName: "inner.test", port: 7)
                task.resume()
                try await task.write(Data("hello\r\n".utf8), timeout: 0)
                let (data, _) = try await task.readData(ofMinLength: 8, maxLength: 8, timeout: 0)
                #expect(data == Data("hello!\r\n".utf8))
                #expect(try await proxy.requests.next() == "inner.test:7")
            }
        }
    }
}

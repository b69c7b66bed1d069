import CausewayTypes
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("Fetching PAC scripts", .enabled(if: Script.canRun, Script.need))
    struct PACFetchTests {
        private static func parameters(_ url: URL) throws -> NWParameters {
            ProxyTests.parameters([try ProxyConfiguration(automaticConfiguration: url)])
        }

        /// Checks that the client can connect to a test server. The proxy script returns DIRECT, so the client must not
        /// use a proxy.
        private static func connects(_ parameters: NWParameters, _ server: ListenerProbe) async throws {
            let report = try await ProxyTests.exchange(to: server.endpoint, parameters, server)
            #expect(report.proxyConfigured && !report.usedProxy)
        }

        private static func failure(_ url: URL) async throws -> (error: NWError, reason: String) {
            let client = Probe(to: ProxyTests.name, using: try parameters(url)).start()
            let state = try await client.states.first { if case .waiting = $0 { true } else { $0 == .ready } }
            let reason = client.connection.proxyFailureReason ?? ""
            try await client.cancel()
            guard case .waiting(let error) = state else { throw CancellationError() }
            return (error, reason)
        }

        private static let direct = Script.choosing("DIRECT")

        @Test("A script is fetched once and cached for connections of one context, until the cache is cleared")
        func kept() async throws {
            try await ProxyTests.withServer { server in
                try await PACServer.with({ _ in PACServer.script(Self.direct, "Cache-Control: max-age=60\r\n") }) {
                    web in
                    let parameters = try Self.parameters(web.url("/proxy.pac?x=1"))
                    for _ in 0..<3 { try await Self.connects(parameters, server) }
                    #expect(web.requests.history == ["GET /proxy.pac?x=1 HTTP/1.1"])
                    try await Self.connects(try Self.parameters(web.url("/proxy.pac?x=1")), server)
                    #expect(web.requests.history.count == 2)
                    parameters.values.privacyContext.flushCache()
                    try await Self.connects(parameters, server)
                    #expect(web.requests.history.count == 3)
                }
                try await PACServer.with({ _ in PACServer.script(Self.direct, "Cache-Control: no-store\r\n") }) {
                    web in
                    let parameters = try Self.parameters(web.url())
                    for _ in 0..<2 { try await Self.connects(parameters, server) }
                    #expect(web.requests.history.count == 2)
                }
            }
        }

        @Test("Chunked, delimited by the end of the connection, with a content coding, and after a redirect")
        func forms() async throws {
            let script = Self.direct
            let size = String(script.utf8.count, radix: 16)
            let answers = [
                "/chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n\(script)\r\n0\r\n\r\n",
                "/end": "HTTP/1.0 200 OK\r\n\r\n\(script)", "/mark": PACServer.script("\u{FEFF}" + script),
                "/elsewhere": "HTTP/1.1 302 Found\r\nLocation: end\r\n\r\n",
            ]
            try await ProxyTests.withServer { server in
                try await PACServer.with({ answers[$0] }) { web in
                    for path in answers.keys { try await Self.connects(try Self.parameters(web.url(path)), server) }
                }
            }
        }

        @Test("A script that cannot be fetched blocks the connection, with an error")
        func missing() async throws {
            let long = "HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n"
            let answers = [
                "/missing": "HTTP/1.1 404 No\r\n\r\n", "/loop": "HTTP/1.1 302 Found\r\nLocation: /loop\r\n\r\n",
                "/ftp": "HTTP/1.1 302 Found\r\nLocation: ftp://h/x\r\n\r\n", "/nonsense": "220 ready\r\n",
                "/long": long,
                "/cut": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfunction",
            ]
            try await PACServer.with({ answers[$0] }) { web in
                for (path, error, words) in [
                    ("/missing", NWError.posix(.ENOENT), "404"), ("/loop", .posix(.ELOOP), "redirects"),
                    ("/ftp", .posix(.EPROTONOSUPPORT), "redirects"), ("/nonsense", .posix(.EPROTO), "malformed"),
                    ("/long", .posix(.EFBIG), "1 MiB"), ("/cut", .posix(.EPROTO), "malformed"),
                ] {
                    let failure = try await Self.failure(web.url(path))
                    #expect(failure.error == error && failure.reason.contains(words), "\(path): \(failure)")
                }
                #expect(web.requests.history.filter { $0.contains("/loop") }.count == 6)
            }
            let closed = try ProxyTests.closedPlace()
            guard case .hostPort(_, let port) = closed else { return }
            let refused = try await Self.failure(try #require(URL(string: "http://127.0.0.1:\(port.rawValue)/")))
            #expect(refused.error == .posix(.ECONNREFUSED) && refused.reason.contains("cannot fetch"))
        }

        @Test("Cancelling the connection ends the fetch from a silent server")
        func cancellation() async throws {
            try await PACServer.with({ _ in nil }) { web in
                let client = Probe(to: ProxyTests.name, using: try Self.parameters(web.url())).start()
                _ = try await web.requests.next()
                try await client.cancel()
                let next = Probe(to: ProxyTests.name, using: client.connection.parameters).start()
                _ = try await web.requests.next()
                try await next.cancel()
            }
        }

        @Test(
            "PAC scripts are fetched from web servers only",
            arguments: ["ftp://h/x.pac", "file:///etc/x.pac", "data:x", "x.pac"])
        func schemes(_ text: String) throws {
            let url = try #require(URL(string: text))
            #expect(throws: NWError.posix(.EPROTONOSUPPORT)) { try ProxyConfiguration(automaticConfiguration: url) }
        }

        @Test("The environment sets a script")
        func environment() throws {
            let variables = ["auto_proxy": "http://u:p@h:8080/x.pac?y", "no_proxy": "a.example"]
            let proxy = try #require(try ProxyConfiguration.environment(forScheme: "https", variables).first)
            #expect(proxy.debugDescription == "script http://h:8080/x.pac")
            #expect(proxy.excludedDomains.contains("a.example"))
            #expect(throws: NWError.posix(.EPROTONOSUPPORT)) {
                try ProxyConfiguration.environment(forScheme: "https", ["auto_proxy": "file:///x"])
            }
            #expect(throws: NWError.posix(.EINVAL)) {
                try ProxyConfiguration.environment(forScheme: "https", ["auto_proxy": "http:///x"])
            }
        }
    }
}

import CausewayURLLoading
import Foundation
import Synchronization
import Testing

/// Redirects, authentication and proxies of `URLSession` with servers and proxies of other projects. Each row is printed with the word
/// `matrix`, so that `Scripts/http-matrix` can show them as a table.
@Suite(
    "URLSession: the matrix of redirects, authentication and proxies",
    .enabled(
        if: WebPeer.areInstalled && ProxyServer.areInstalled && NginxPeer.path != nil || Interop.mustRun,
        "nginx, apache2, squid or danted is not installed"))
struct HTTPMatrixTests {
    /// Prints a row of the results, and checks it.
    private func row(_ area: String, _ peer: String, _ name: String, _ isRight: Bool) {
        print("matrix\t\(area)\t\(peer)\t\(name)\t\(isRight ? "ok" : "WRONG")")
        #expect(isRight, "\(area), \(peer): \(name)")
    }

    private static func session(
        _ answers: MatrixDelegate, _ proxy: [AnyHashable: Any] = [:]
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 36_000
        configuration.connectionProxyDictionary = proxy
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: answers, delegateQueue: nil)
    }

    /// Returns the status and the text of a response. If there is no response, the error's code replaces the status.
    private static func load(
        _ session: URLSession, _ url: String, _ method: String = "GET", _ fields: [String: String] = [:]
    ) async -> (status: Int, text: String) {
        guard let url = URL(string: url) else { return (0, "") }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        if method == "POST" { request.httpBody = Data("a=b".utf8) }
        do {
            let (data, response) = try await session.data(for: request)
            let http = response as? HTTPURLResponse
            // Apache cannot insert variables into the content. So it sends the echo in a header field instead.
            let echo = http?.value(forHTTPHeaderField: "X-Echo") ?? ""
            return (http?.statusCode ?? 0, String(decoding: data, as: UTF8.self) + echo)
        } catch {
            return ((error as? URLError)?.errorCode ?? 0, "")
        }
    }

    // MARK: Redirects

    @Test("Redirects")
    func redirects() async throws {
        try await Scratch.run { scratch in
            let nginx = try await MatrixPeers.startNginx(scratch)
            let apache = try await MatrixPeers.startApache(scratch)
            for (peer, base) in [
                ("nginx", "http://127.0.0.1:\(nginx.first)"), ("apache", "http://127.0.0.1:\(apache)"),
            ] {
                let session = Self.session(MatrixDelegate([]))
                defer { session.invalidateAndCancel() }
                for (status, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
                    let answer = await Self.load(session, "\(base)/r\(status)", "POST")
                    row("redirect", peer, "\(status): POST becomes \(method)", answer.text.contains("method=\(method)"))
                }
                let head = await Self.load(session, "\(base)/r303", "HEAD")
                row("redirect", peer, "303: HEAD stays HEAD", head.status == 200 && !head.text.contains("GET"))
                let loop = await Self.load(session, "\(base)/loop")
                row(
                    "redirect", peer, "an endless chain fails",
                    loop.status == URLError.Code.httpTooManyRedirects.rawValue)
            }
            let session = Self.session(MatrixDelegate([]))
            defer { session.invalidateAndCancel() }
            let base = "http://127.0.0.1:\(nginx.first)"
            let secret = ["Authorization": "Bearer token", "X-Field": "kept"]
            let same = await Self.load(session, "\(base)/r302", "GET", secret)
            row("redirect", "nginx", "same origin: Authorization is kept", same.text.contains("auth=Bearer token"))
            let cross = await Self.load(session, "\(base)/cross", "GET", secret)
            row("redirect", "nginx", "other port: Authorization is removed", cross.text.contains("auth= "))
            row("redirect", "nginx", "other port: other fields are kept", cross.text.contains("field=kept"))
            let relative = await Self.load(session, "\(base)/a/relative")
            row("redirect", "nginx", "a relative reference", relative.text.contains("uri=/a/final?x"))
            _ = await Self.load(session, "\(base)/cookie")
            let cookies = await Self.load(session, "\(base)/final")
            row("redirect", "nginx", "a cookie of a redirect is stored and sent", cookies.text.contains("cookie=n=v"))
        }
    }

    // MARK: Authentication

    @Test("Authentication")
    func authentication() async throws {
        try await Scratch.run { scratch in
            let nginx = try await MatrixPeers.startNginx(scratch)
            let apache = try await MatrixPeers.startApache(scratch)
            let places = [
                ("nginx", "Basic", "http://127.0.0.1:\(nginx.first)/basic"),
                ("apache", "Basic", "http://127.0.0.1:\(apache)/basic/"),
                ("apache", "Digest", "http://127.0.0.1:\(apache)/digest/"),
            ]
            for (peer, scheme, url) in places {
                await authentication(peer, scheme, url)
            }
            try await HTTPBin.run { bin in
                let base = "http://127.0.0.1:\(bin.port)"
                for algorithm in ["MD5", "SHA-256"] {
                    for quality in ["auth", "auth-int"] {
                        await authentication(
                            "httpbin", "Digest \(algorithm) \(quality)",
                            "\(base)/digest-auth/\(quality)/ann/secret/\(algorithm)")
                    }
                    let session = Self.session(MatrixDelegate(["secret"]))
                    defer { session.invalidateAndCancel() }
                    let url = "\(base)/digest-auth/auth/ann/secret/\(algorithm)/1"
                    let first = await Self.load(session, url)
                    let second = await Self.load(session, url)
                    row(
                        "auth", "httpbin", "Digest \(algorithm): a stale nonce",
                        first.status == 200 && second.status == 200)
                }
                await authentication("httpbin", "Basic", "\(base)/basic-auth/ann/secret")
            }
        }
    }

    private func authentication(_ peer: String, _ scheme: String, _ url: String) async {
        let right = MatrixDelegate(["secret"])
        let session = Self.session(right)
        defer { session.invalidateAndCancel() }
        let statuses = [await Self.load(session, url).status, await Self.load(session, url, "POST").status]
        // Apache's file handler refuses POST with status 405, but only after authentication has succeeded.
        let isKnown = statuses[0] == 200 && [200, 405].contains(statuses[1])
        row("auth", peer, "\(scheme): the right password", isKnown && right.spaces.count == 1)
        let wrong = MatrixDelegate(["guess", "secret"])
        let other = Self.session(wrong)
        defer { other.invalidateAndCancel() }
        let later = await Self.load(other, url).status
        row("auth", peer, "\(scheme): a wrong, then the right one", later == 200 && wrong.failures == [0, 1])
        let none = Self.session(MatrixDelegate([]))
        defer { none.invalidateAndCancel() }
        row("auth", peer, "\(scheme): without one, the response 401", await Self.load(none, url).status == 401)
        let name = url.replacing("http://", with: "http://ann:secret@")
        let named = Self.session(MatrixDelegate([]))
        defer { named.invalidateAndCancel() }
        row("auth", peer, "\(scheme): in the URL", await Self.load(named, name).status == 200)
    }

    // MARK: Proxies

    @Test("Proxies")
    func proxies() async throws {
        try await Scratch.run { scratch in
            let nginx = try await MatrixPeers.startNginx(scratch)
            let urls = ["http://127.0.0.1:\(nginx.first)/final", "https://127.0.0.1:\(nginx.secure)/final"]
            var places: [(String, String, UInt16)] = [
                ("squid, Basic", "s@cret", try await ProxyServer.startSquid(scratch, "basic")),
                ("squid, Digest", "s@cret", try await ProxyServer.startSquid(scratch, "digest")),
            ]
            if let port = try await MatrixPeers.startTinyproxy(scratch) {
                places.append(("tinyproxy, Basic", "secret", port))
            }
            for (peer, password, port) in places {
                for url in urls { await proxy(peer, password, port, url) }
            }
            let open = try await ProxyServer.startDante(scratch, asks: false)
            let closed = try await ProxyServer.startDante(scratch, asks: true)
            for url in urls {
                let session = Self.session(MatrixDelegate([]), Self.settings("SOCKS", open))
                defer { session.invalidateAndCancel() }
                row(
                    "proxy", "dante", "\(url.prefix { $0 != ":" }): without one",
                    await Self.load(session, url).status == 200)
                await proxy("dante, password", "s@cret", closed, url, kind: "SOCKS", user: ProxyServer.user)
            }
        }
    }

    private static func settings(_ kind: String, _ port: UInt16) -> [AnyHashable: Any] {
        ["\(kind)Enable": 1, "\(kind)Proxy": "127.0.0.1", "\(kind)Port": Int(port)]
    }

    private func proxy(
        _ peer: String, _ right: String, _ port: UInt16, _ url: String, kind: String? = nil, user: String = "user"
    ) async {
        let scheme = url.prefix { $0 != ":" }
        func load(_ answers: MatrixDelegate, _ password: String?) async -> Int {
            var settings = Self.settings(kind ?? scheme.uppercased(), port)
            if let password { settings.merge([kCFProxyUsernameKey: user, kCFProxyPasswordKey: password]) { $1 } }
            let session = Self.session(answers, settings)
            defer { session.invalidateAndCancel() }
            let status = await Self.load(session, url).status
            // The delegate need not answer the challenge again for a second connection.
            let again = await Self.load(session, url.replacing("127.0.0.1", with: "localhost")).status
            return status == again ? status : 0
        }
        let none = MatrixDelegate([], user: user)
        row("proxy", peer, "\(scheme): of the dictionary", await load(none, right) == 200 && none.spaces.isEmpty)
        let asked = MatrixDelegate([right], user: user)
        let status = await load(asked, nil)
        row(
            "proxy", peer, "\(scheme): of the delegate",
            status == 200 && asked.spaces.count == 1 && asked.spaces[0].isProxy())
        let isForwarded = kind == nil && scheme == "http"
        // If a password is wrong, tinyproxy answers like an origin server: with status 401 and WWW-Authenticate.
        if !isForwarded || !peer.hasPrefix("tinyproxy") {
            let wrong = MatrixDelegate(["guess", right], user: user)
            row(
                "proxy", peer, "\(scheme): wrong in the dictionary, then wrong, then right",
                await load(wrong, "no") == 200)
            row("proxy", peer, "\(scheme): failures are counted", wrong.failures == [0, 1])
        }
        let refused = await load(MatrixDelegate([]), nil)
        row("proxy", peer, "\(scheme): without one, refused", isForwarded ? refused == 407 : refused < 0)
    }
}

/// Answers authentication challenges with each password in turn, and then with the default handling. Trusts every
/// server.
final class MatrixDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let user: String
    private let passwords: [String]
    private let asked = Mutex<[(URLProtectionSpace, Int)]>([])

    init(_ passwords: [String], user: String = "ann") {
        self.passwords = passwords
        self.user = user
    }

    var spaces: [URLProtectionSpace] { asked.withLock { $0.map(\.0) } }
    var failures: [Int] { asked.withLock { $0.map(\.1) } }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let count = asked.withLock { $0.count }
        guard count < passwords.count else { return (.performDefaultHandling, nil) }
        asked.withLock { $0.append((challenge.protectionSpace, challenge.previousFailureCount)) }
        return (.useCredential, URLCredential(user: user, password: passwords[count], persistence: .forSession))
    }
}

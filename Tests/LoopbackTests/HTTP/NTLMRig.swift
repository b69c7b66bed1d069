import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

/// Test servers and proxies that demand NTLM, and the requests that they received.
enum NTLMRig {
    /// A request that a test server has received. It also stores the connection's number, and the user who is
    /// authenticated on the connection.
    struct Seen: Sendable {
        var connection: Int
        var request: ScriptedRequest
        var user: String?

        /// The type of the NTLM message in the request: 1 or 3. 0 if the request has no NTLM message.
        var message: Int { NTLMRig.message(request["authorization"] ?? request["proxy-authorization"]) }
    }

    final class Log: Sendable {
        private let list = LockedValue<[Seen]>([])
        private let count = LockedValue(0)

        var all: [Seen] { list.withLock { $0 } }
        var messages: [Int] { all.map(\.message) }
        var connectionCount: Int { count.withLock { $0 } }

        func append(_ seen: Seen) { list.withLock { $0.append(seen) } }

        /// Returns the next connection number. The first connection has the number 1.
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    /// Returns the type of the NTLM message in a field value: 1 or 3. Returns 0 if there is no message.
    static func message(_ value: String?) -> Int {
        guard let value, value.hasPrefix("NTLM ") else { return 0 }
        let token = Data(base64Encoded: String(value.dropFirst(5))) ?? Data()
        return token.count > 8 ? Int(token[8]) : 0
    }

    /// Creates a server that requires NTLM authentication on each connection.
    ///
    /// - Parameter change: Changes a challenge. If it returns `nil`, the server closes the connection without a
    ///   response.
    static func server(
        _ log: Log, others: [String] = [],
        change: @escaping @Sendable (_ connection: Int, _ challenge: String) -> [String]? = { _, text in [text] }
    ) throws -> ScriptedServer {
        try ScriptedServer { peer in
            let connection = log.next()
            var side = NTLMServerSide(passwords: ["ann": "secret", "D\\bob": "word", "eve@d.test": "pass"])
            while let request = try await peer.readRequest() {
                guard let challenge = handle(request, "authorization", connection, &side, log) else {
                    try await peer.write(reply("200 OK", [], "\(request.method) \(side.user ?? "-") \(request.body)"))
                    continue
                }
                guard let fields = change(connection, challenge) else { return }
                let all = (fields + others).map { $0.contains(":") ? $0 : "WWW-Authenticate: \($0)" }
                try await peer.write(reply("401 Who", all, "refused"))
                if fields.contains("Connection: close") { return }
            }
        }
    }

    /// A proxy that demands NTLM on each connection. It also acts as the destination server.
    static func proxy(_ log: Log, others: [String] = []) throws -> ScriptedServer {
        try ScriptedServer { peer in
            let connection = log.next()
            var side = NTLMServerSide()
            var accepted: ScriptedRequest?
            while accepted == nil, let request = try await peer.readRequest() {
                guard let challenge = handle(request, "proxy-authorization", connection, &side, log) else {
                    accepted = request
                    continue
                }
                let fields = ([challenge] + others).map { "Proxy-Authenticate: \($0)" }
                try await peer.write(reply("407 Who", fields, "who?"))
            }
            guard let accepted else { return }
            let user = side.user ?? "-"
            let isTunnel = accepted.method == "CONNECT"
            try await peer.write(
                isTunnel ? "HTTP/1.1 200 OK\r\n\r\n" : reply("200 OK", [], "\(accepted.method) by \(user)"))
            try await peer.serve { reply("200 OK", [], "\($0.method) by \(user)") }
        }
    }

    /// Records a request. Returns the NTLM challenge with which the server answers it. Returns `nil` if the server
    /// accepts the request. It also accepts requests with Basic authentication.
    private static func handle(
        _ request: ScriptedRequest, _ field: String, _ connection: Int, _ side: inout NTLMServerSide, _ log: Log
    ) -> String? {
        let given = request[field]
        let challenge = given?.hasPrefix("Basic ") == true ? nil : side.handle(given)
        log.append(Seen(connection: connection, request: request, user: side.user))
        return challenge
    }

    // MARK: The client

    /// Returns a delegate that answers two challenges with a credential.
    static func delegate(_ user: String = "ann", _ password: String = "secret") -> EventDelegate {
        EventDelegate { challenge in
            let space = challenge.protectionSpace
            guard challenge.previousFailureCount < 2 else { return (.performDefaultHandling, nil) }
            #expect(space.authenticationMethod == NSURLAuthenticationMethodNTLM && space.realm == nil)
            return (.useCredential, URLCredential(user: user, password: password, persistence: .forSession))
        }
    }

    static func text(_ session: URLSession, _ request: URLRequest) async throws -> String {
        let (data, response) = try await session.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return "\(status) " + String(decoding: data, as: UTF8.self)
    }

    static func text(_ session: URLSession, _ uri: String) async throws -> String {
        try await text(session, URLRequest(url: #require(URL(string: uri))))
    }

    static func challenges(_ delegate: EventDelegate) -> [String] {
        delegate.events.filter { $0.hasPrefix("challenge") }
    }

    /// Removes the NTLM functions from a session's configuration, as if OpenSSL's legacy provider were missing.
    static func removeFunctions(_ configuration: URLSessionConfiguration) {
        configuration.settings.transport.ntlm = NTLMMechanism(check: { "NTLM needs MD4. Install it: package-x." })
    }

    static func session(
        _ delegate: EventDelegate, through proxy: ScriptedServer,
        change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        privateSession(delegate) {
            change($0)
            $0.connectionProxyDictionary = [
                kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                kCFNetworkProxiesHTTPPort: URL(string: proxy.uri())?.port ?? 0,
            ]
        }
    }
}

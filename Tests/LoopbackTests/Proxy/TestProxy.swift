import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

/// An HTTP or SOCKS proxy for tests, on this host. It records its requests, and has a destination for each name.
///
/// For a request in absolute form, the proxy opens a tunnel and sends this request as the first bytes in the tunnel.
final class TestProxy: Sendable {
    enum Kind: Sendable {
        case socks(credential: String? = nil)
        case http(credential: String? = nil)
        /// Answers every request with this response.
        case refusing(String)
    }

    /// The requests and credentials that clients have sent, as text.
    let requests = Mailbox<String>()
    private let kind: Kind
    private let listener: ListenerProbe
    private let route: @Sendable (String) -> NWEndpoint?

    private init(_ kind: Kind, _ listener: ListenerProbe, _ route: @escaping @Sendable (String) -> NWEndpoint?) {
        self.kind = kind
        self.listener = listener
        self.route = route
    }

    var endpoint: NWEndpoint { listener.endpoint }

    /// Runs a test proxy while `body` runs.
    ///
    /// - Parameters:
    ///   - parameters: Protocols to the proxy, such as TLS.
    ///   - route: Maps a destination such as `name:80` to an endpoint.
    static func with(
        _ kind: Kind, tls: NWProtocolTLS.Options? = nil, route: @escaping @Sendable (String) -> NWEndpoint?,
        _ body: (TestProxy) async throws -> Void
    ) async throws {
        let parameters = NWParameters(tls: tls)
        parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
        let listener = ListenerProbe(try NWListener(using: parameters))
        try await listener.listen()
        let proxy = TestProxy(kind, listener, route)
        let serving = Task { await proxy.serve() }
        defer {
            serving.cancel()
            listener.listener.cancel()
        }
        try await body(proxy)
    }

    private func serve() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, let client = try? await listener.connections.next() {
                group.addTask {
                    defer { client.connection.cancel() }
                    try? await self.serve(client.start())
                }
            }
            group.cancelAll()
        }
    }

    private func serve(_ client: Probe) async throws {
        let destination: String?
        var forwarded: Data?
        switch kind {
        case .socks(let credential): destination = try await socks(client, credential)
        case .http(let credential): (destination, forwarded) = try await http(client, credential)
        case .refusing(let answer):
            requests.put(try await head(client).first ?? "")
            try await client.deliver(Data(answer.utf8), isComplete: false)
            destination = nil
        }
        guard let destination else {
            // Keep the connection open until the client closes it. If this side closed first, the answer could be lost
            // on the way.
            _ = try await client.receive()
            return
        }
        let server = Probe(to: try #require(route(destination)), using: .tcp).start()
        defer { server.connection.cancel() }
        try await server.ready()
        switch kind {
        case .socks: try await client.deliver(Data([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]), isComplete: false)
        case .http, .refusing:
            if let forwarded {
                _ = try await server.send(forwarded, isComplete: false).next()
            } else {
                try await client.deliver(Data("HTTP/1.1 200 OK\r\n\r\n".utf8), isComplete: false)
            }
        }
        async let there: Void = Self.copy(client, server)
        async let back: Void = Self.copy(server, client)
        _ = try await (there, back)
    }

    private static func copy(_ source: Probe, _ sink: Probe) async throws {
        while true {
            let piece = try await source.receive()
            // Ignore errors here, because either side may already have closed its connection. The test that uses this
            // proxy checks the result.
            if let data = piece.data { _ = try await sink.send(data, isComplete: false).next() }
            if piece.isFinal || piece.error != nil {
                _ = try await sink.send(nil, .finalMessage).next()
                return
            }
        }
    }

    // MARK: Handshakes

    private func exactly(_ count: Int, _ client: Probe) async throws -> [UInt8] {
        let piece = try await client.receive(count, count)
        guard let data = piece.data, data.count == count else { throw CancellationError() }
        return [UInt8](data)
    }

    private func socks(_ client: Probe, _ credential: String?) async throws -> String? {
        let greeting = try await exactly(2, client)
        let methods = try await exactly(Int(greeting[1]), client)
        guard let credential else {
            try await client.deliver(Data([5, 0]), isComplete: false)
            return try await socksRequest(client)
        }
        guard methods.contains(2) else {
            try await client.deliver(Data([5, 0xFF]), isComplete: false)
            return nil
        }
        try await client.deliver(Data([5, 2]), isComplete: false)
        let name = try await exactly(Int(try await exactly(2, client)[1]), client)
        let password = try await exactly(Int(try await exactly(1, client)[0]), client)
        let given = String(decoding: name + [0x3A] + password, as: UTF8.self)
        requests.put("credential \(given)")
        try await client.deliver(Data([1, given == credential ? 0 : 1]), isComplete: false)
        return given == credential ? try await socksRequest(client) : nil
    }

    private func socksRequest(_ client: Probe) async throws -> String {
        let head = try await exactly(4, client)
        let host: String
        switch head[3] {
        case 1: host = try await exactly(4, client).map(String.init).joined(separator: ".")
        case 4: host = "[\(IPv6Address(Data(try await exactly(16, client))).map { "\($0)" } ?? "")]"
        default:
            let count = try await exactly(1, client)[0]
            host = String(decoding: try await exactly(Int(count), client), as: UTF8.self)
        }
        let port = try await exactly(2, client)
        let destination = "\(host):\(UInt16(port[0]) << 8 | UInt16(port[1]))"
        requests.put(destination)
        return destination
    }

    private func head(_ client: Probe) async throws -> [String] {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) { bytes += try await exactly(1, client) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").map(String.init)
    }

    /// For a request in absolute form, returns the destination and the head for the server. Returns `nil` for CONNECT.
    private static func forwarded(_ lines: [String]) -> (String?, Data?)? {
        let words = lines[0].split(separator: " ")
        guard words[1].hasPrefix("http://") else { return nil }
        let rest = words[1].dropFirst(7)
        let authority = rest.prefix { $0 != "/" }
        let fields = lines.dropFirst().filter { !$0.hasPrefix("Proxy-Authorization:") }
        let start = "\(words[0]) \(rest.dropFirst(authority.count)) HTTP/1.1"
        let head = ([start] + fields + ["", ""]).joined(separator: "\r\n")
        return (authority.contains(":") ? String(authority) : "\(authority):80", Data(head.utf8))
    }

    /// Handles a client's HTTP request. Returns the destination, and also the head if the request is in absolute form.
    private func http(_ client: Probe, _ credential: String?) async throws -> (String?, Data?) {
        while true {
            let lines = try await head(client)
            let destination = lines[0].split(separator: " ")[1]
            let given = lines.first { $0.hasPrefix("Proxy-Authorization: Basic ") }?.dropFirst(27)
            let isKnown = credential.map { Data($0.utf8).base64EncodedString() == given.map(String.init) } ?? true
            requests.put(String(destination))
            if isKnown { return Self.forwarded(lines) ?? (String(destination), nil) }
            let refusal =
                "HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=\"test\"\r\nContent-Length: 5\r\n\r\nwho?\n"
            try await client.deliver(Data(refusal.utf8), isComplete: false)
            if given != nil { return (nil, nil) }
        }
    }
}

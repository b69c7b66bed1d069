import Causeway
import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayWire
import Dispatch
import FoundationEssentials
import Testing

/// A server on the loopback interface that answers each complete request.
///
/// It uses HTTP/2 if TLS negotiates it. Without TLS, it uses HTTP/2 if the test demands it. Otherwise it uses HTTP/1.1,
/// for requests without a body.
final class MachineServer: Sendable {
    struct Request: Sendable {
        var path: String
        var content = Data()
        /// The number of the connection on which the request arrived. The first connection is 1.
        var connection: Int
        /// The value of `Authorization`.
        var authorization: String?
        /// Whether the connection began with early data.
        var isEarly = false
    }

    struct Reply: Sendable {
        var status = 200
        var content: Data
        /// Field lines for HTTP/1.1, each with its line end.
        var fieldLines = ""
        /// The reply's header fields for HTTP/2.
        var fields = FieldSection()
        var trailers = FieldSection()
    }

    private let listener: ListenerProbe
    private let isHTTP2: Bool
    private let reply: @Sendable (Request) -> Reply
    private let accepted = Counter()
    private let answered = Counter()
    private let task = LockedValue<Task<Void, Never>?>(nil)

    /// Starts the server.
    ///
    /// - Parameter isHTTP2: Whether connections without TLS use HTTP/2.
    init(
        tls: NWProtocolTLS.Options? = nil, isHTTP2: Bool = false, _ reply: @escaping @Sendable (Request) -> Reply
    ) async throws {
        Backend.choose()
        let tcp = NWProtocolTCP.Options()
        tcp.noDelay = true
        let parameters = NWParameters(tls: tls, tcp: tcp)
        parameters.requiredLocalEndpoint = .hostPort(host: .ipv4(.loopback), port: .any)
        listener = ListenerProbe(try NWListener(using: parameters))
        self.isHTTP2 = isHTTP2
        self.reply = reply
        try await listener.listen()
        let serving = Task { [self] in await serve() }
        task.withLock { task in task = serving }
    }

    func stop() {
        task.withLock { task in task }?.cancel()
        listener.listener.cancel()
    }

    /// The number of connections that completed the handshake.
    var acceptedCount: Int { accepted.value }
    var answeredCount: Int { answered.value }
    var endpoint: NWEndpoint { listener.endpoint }

    func uri(_ path: String = "/", scheme: String = "https", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(listener.port.rawValue)\(path)"
    }

    private func serve() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, let client = try? await listener.connections.next() {
                group.addTask { [self] in
                    defer { client.connection.cancel() }
                    try? await serve(client.start())
                }
            }
            group.cancelAll()
        }
    }

    private func serve(_ client: Probe) async throws {
        guard try await client.states.first(where: { $0 != .preparing }) == .ready else { return }
        accepted.increment()
        let number = accepted.value
        let metadata = client.connection.metadata(definition: NWProtocolTLS.definition) as? NWProtocolTLS.Metadata
        let name = metadata.flatMap { sec_protocol_metadata_get_negotiated_protocol($0.securityProtocolMetadata) }
        let security = metadata?.securityProtocolMetadata
        let isEarly = security.map { sec_protocol_metadata_get_early_data_accepted($0) } ?? false
        if isHTTP2 || name.map({ String(cString: $0) }) == "h2" {
            try await serveHTTP2(client, number, isEarly: isEarly)
        } else {
            try await serveHTTP1(client, number, isEarly: isEarly)
        }
    }

    private func serveHTTP1(_ client: Probe, _ number: Int, isEarly: Bool) async throws {
        var input = Data()
        while true {
            while let end = input.firstRange(of: Data("\r\n\r\n".utf8)) {
                let lines = String(decoding: input[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
                input = Data(input[end.upperBound...])
                let words = lines.first?.split(separator: " ") ?? []
                let field = lines.first { $0.lowercased().hasPrefix("authorization: ") }
                let reply = reply(
                    Request(
                        path: words.count > 1 ? String(words[1]) : "", connection: number,
                        authorization: field.map { String($0.dropFirst(15)) }, isEarly: isEarly))
                let length = "Content-Length: \(reply.content.count)\r\n"
                let head = "HTTP/1.1 \(reply.status) \r\n\(length)\(reply.fieldLines)\r\n"
                answered.increment()
                _ = try await client.send(Data(head.utf8) + reply.content, isComplete: false).next()
            }
            let piece = try await client.receive()
            guard let data = piece.data else { return }
            input += data
        }
    }

    private func serveHTTP2(_ client: Probe, _ number: Int, isEarly: Bool) async throws {
        var configuration = HTTP2Configuration()
        configuration.settingsTimeout = .seconds(36_000)
        var machine = HTTP2Connection(.server, configuration: configuration)
        machine.started(at: System.now)
        var requests: [HTTP2StreamID: Request] = [:]
        while !machine.hasEnded {
            while let output = machine.nextOutput(atMost: 256 << 10) {
                _ = try await client.send(Data(output.bytes), isComplete: false).next()
            }
            let piece = try await client.receive()
            guard let data = piece.data else { return }
            machine.received(Array(data)[...], at: System.now)
            while let event = machine.nextEvent() { handle(event, &machine, &requests, number, isEarly) }
        }
    }

    private func handle(
        _ event: HTTP2Connection.Event, _ machine: inout HTTP2Connection, _ requests: inout [HTTP2StreamID: Request],
        _ number: Int, _ isEarly: Bool
    ) {
        let finished: HTTP2StreamID?
        switch event {
        case .request(let id, let head, let endsStream):
            requests[id] = Request(
                path: head.path, connection: number, authorization: head.fields.firstValue(of: "authorization"),
                isEarly: isEarly)
            finished = endsStream ? id : nil
        case .content(let id, let content, let endsStream):
            machine.took(content.count, of: id)
            requests[id]?.content.append(contentsOf: content)
            finished = endsStream ? id : nil
        case .trailers(let id, _): finished = id
        case .closed(let id, _):
            requests[id] = nil
            finished = nil
        default: finished = nil
        }
        guard let finished, let request = requests.removeValue(forKey: finished) else { return }
        let reply = reply(request)
        answered.increment()
        // The client may have reset the stream. So ignore the errors of these calls.
        try? machine.respond(finished, HTTP2ResponseHead(status: reply.status, fields: reply.fields), endsStream: false)
        let hasTrailers = !reply.trailers.isEmpty
        try? machine.send(finished, ByteChain(Array(reply.content)), endsStream: !hasTrailers)
        if hasTrailers { try? machine.sendTrailers(finished, reply.trailers) }
    }
}

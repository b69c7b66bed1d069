internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import FoundationEssentials

/// The handler and limits that a server's connections share.
final class ServerService: Sendable {
    /// The read size for files in bytes.
    private static let fileChunk = 128 << 10

    let limits: HTTPServerLimits
    let lingerTime: Duration
    /// Runs the tasks that serve requests; `nil` for the event loop of their connection.
    let handlerExecutor: (any TaskExecutor)?
    private let handler: HTTPServer.Handler
    private let observer: (@Sendable (HTTPServer.Exchange) -> Void)?
    private let date = ServerDate()

    init(_ configuration: HTTPServer.Configuration, _ handler: @escaping HTTPServer.Handler) {
        limits = configuration.limits
        lingerTime = configuration.lingerTime
        handlerExecutor = configuration.handlerExecution.executor
        observer = configuration.exchangeHandler
        self.handler = handler
    }

    /// Calls the handler for a request and sends its response.
    func serve(_ exchange: ServerExchange) async {
        let request = HTTPServerRequest(exchange)
        let response: HTTPServerResponse
        var failure: (any Error)?
        do {
            response = try await handler(request)
        } catch {
            failure = error
            response = ErrorContent.response(for: error)
        }
        do {
            try await send(response, exchange)
        } catch {
            failure = failure ?? error
            refuse(exchange)
        }
        guard let observer else { return }
        let outcome = exchange.outcome
        // If the client is gone, its handler's task is cancelled. Then report that the client is gone, and not the
        // `CancellationError`.
        if outcome.status == 0, failure is CancellationError { failure = HTTPServerError.clientGone }
        observer(
            HTTPServer.Exchange(
                request: request, status: outcome.status, sentByteCount: outcome.sentCount,
                duration: System.now - exchange.start, error: failure))
    }

    /// Ends an exchange if its response cannot be sent. For example, its file was truncated.
    ///
    /// If the response has not begun, sends status 500. Otherwise, interrupts the response, so that the client notices
    /// that it is incomplete.
    private func refuse(_ exchange: ServerExchange) {
        let hasBegun = exchange.outcome.status != 0
        guard !hasBegun, (try? exchange.respond(500, FieldSection(), .none)) != nil else { return exchange.interrupt() }
    }

    private func send(_ response: consuming HTTPServerResponse, _ exchange: ServerExchange) async throws {
        // If the request is a WebSocket handshake, do not send a normal response with a successful status. Over HTTP/2,
        // such a status alone accepts the handshake (RFC 8441 §5). The client would then read the content as WebSocket
        // messages. If a page of another site controls the first bytes, it could read the content.
        if exchange.head.protocolName == "websocket", response.isPlainSuccess {
            return try exchange.respond(501, FieldSection(), .none)
        }
        // Move the fields into this variable, so that the response no longer has them. If both had them, adding a field
        // would copy all fields.
        var fields = FieldSection()
        swap(&fields, &response.fields.section)
        // Add the date, which a server with a clock must send (RFC 9110 §6.6.1).
        if !fields.contains("Date") { fields.append("Date", date.text) }
        switch response.body.kind {
        case .none: try exchange.respond(response.status, fields, .none)
        case .data(let data):
            let content = SelectedContent(response.status, fields, length: data.count, for: exchange.head)
            try send(content, data, exchange)
            await exchange.connection.awaitRoom(exchange.id)
        case .file(let file):
            let content = SelectedContent(response.status, fields, length: file.length, for: exchange.head)
            try await send(content, file, exchange)
        case .stream(let length, let write):
            let content = length.map { HTTPServerContent.length($0) } ?? .unknown
            try exchange.respond(response.status, fields, content, isWhole: false)
            // For HEAD, do not produce the content: it is not sent, and producing it may be expensive.
            if exchange.head.method != "HEAD" {
                try await write(HTTPServerBodyWriter(destination: .client(exchange)))
            }
            try exchange.finish()
            await exchange.connection.awaitRoom(exchange.id)
        case .webSocket(let route): try await route.serve(exchange, fields)
        }
    }

    private func send(_ content: SelectedContent, _ data: Data, _ exchange: ServerExchange) throws {
        var bytes = ByteChain()
        for piece in content.pieces {
            switch piece {
            case .text(let text): bytes.append(text)
            case .range(let range):
                let start = data.startIndex + range.lowerBound
                bytes.append(Array(data[start..<start + range.count]))
            }
        }
        try exchange.respond(content.status, content.fields, Self.framing(content), bytes)
    }

    private static func framing(_ content: SelectedContent) -> HTTPServerContent {
        content.status == 304 || content.status == 204 ? .none : .length(content.length)
    }

    /// Sends a file in chunks. The first chunk is sent together with the response head.
    private func send(_ content: SelectedContent, _ file: ServedFile, _ exchange: ServerExchange) async throws {
        let isHead = exchange.head.method == "HEAD"
        let isSmall = content.length <= Self.fileChunk
        var hasBegun = false
        var first = ByteChain()
        for piece in isHead ? [] : content.pieces {
            switch piece {
            case .text(let text): first.append(text)
            case .range(var range):
                while !range.isEmpty {
                    let count = min(range.count, Self.fileChunk)
                    let bytes = try file.read(count, at: range.lowerBound)
                    // The file was truncated after it was opened.
                    guard bytes.count == count else { throw HTTPServerError(status: 500) }
                    range = range.lowerBound + count..<range.upperBound
                    first.append(bytes)
                    if isSmall { continue }
                    try await write(&first, content, exchange, &hasBegun)
                }
            }
        }
        if hasBegun {
            if !first.isEmpty { try exchange.enqueue(first) }
            try exchange.finish()
        } else {
            try exchange.respond(content.status, content.fields, Self.framing(content), first)
        }
        await exchange.connection.awaitRoom(exchange.id)
    }

    private func write(
        _ bytes: inout ByteChain, _ content: SelectedContent, _ exchange: ServerExchange, _ hasBegun: inout Bool
    ) async throws {
        if hasBegun {
            try exchange.enqueue(bytes)
        } else {
            try exchange.respond(content.status, content.fields, Self.framing(content), bytes, isWhole: false)
            hasBegun = true
        }
        bytes = ByteChain()
        await exchange.connection.awaitRoomAlways(exchange.id)
    }
}

extension HTTPServerResponse {
    /// Whether the response has a successful status, and does not open a WebSocket.
    fileprivate var isPlainSuccess: Bool {
        if case .webSocket = body.kind { return false }
        return (200...299).contains(status)
    }
}

/// The current date as a field value. The text is made once per second.
private final class ServerDate: Sendable {
    private let cached = LockedValue<(second: Int, text: String)>((0, ""))

    var text: String {
        let now = time(nil)
        return cached.withLock { cached in
            if cached.second != now { cached = (now, HTTPDate.text(now)) }
            return cached.text
        }
    }
}

extension HTTPServerResponse {
    /// Returns a response that sends server-sent events (HTML Living Standard §9.2) until the closure returns.
    ///
    /// A browser reconnects when the response ends. The closure is cancelled when the client goes away.
    public static func events(
        _ send: @escaping @Sendable (HTTPServerEventWriter) async throws -> Void
    ) -> HTTPServerResponse {
        HTTPServerResponse(
            fields: ["Content-Type": "text/event-stream", "Cache-Control": "no-cache"],
            body: .stream { writer in try await send(HTTPServerEventWriter(writer: writer)) })
    }
}

/// Writes server-sent events.
public struct HTTPServerEventWriter: Sendable {
    let writer: HTTPServerBodyWriter

    /// Sends an event. Suspends while the client does not read.
    ///
    /// - Parameters:
    ///   - data: The data; it may have several lines.
    ///   - event: The event type; `nil` for `message`. Line ends are removed.
    ///   - id: The identifier, which a client repeats in `Last-Event-ID` when it reconnects. Line ends are removed.
    ///   - retry: The time after which a client reconnects.
    /// - Throws: As ``HTTPServerBodyWriter/write(_:)-(Data)``.
    public func send(_ data: String, event: String? = nil, id: String? = nil, retry: Duration? = nil) async throws {
        var text = ""
        if let event { text += "event: \(Self.line(event))\n" }
        if let id { text += "id: \(Self.line(id))\n" }
        if let retry {
            let (seconds, attoseconds) = retry.components
            text += "retry: \(max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000))\n"
        }
        for line in Self.lines(data) { text += "data: \(line)\n" }
        try await writer.write(text + "\n")
    }

    /// Sends a comment, which clients ignore. It keeps proxies from closing an idle connection.
    ///
    /// - Throws: As ``HTTPServerBodyWriter/write(_:)-(Data)``.
    public func comment(_ text: String = "") async throws { try await writer.write(": \(Self.line(text))\n\n") }

    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\n" && $0 != "\r" && $0 != "\0" }))
    }

    /// Splits a text at the line ends of the event format: LF, CR, and CR LF. Swift treats CR LF as one `Character`, so
    /// it is one line end.
    private static func lines(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
    }
}

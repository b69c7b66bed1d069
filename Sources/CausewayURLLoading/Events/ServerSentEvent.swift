public import Foundation

/// A server-sent event from a `text/event-stream` response.
///
/// An addition of Causeway.
public struct ServerSentEvent: Hashable, Sendable {
    /// The latest identifier that the server has sent, with this event or an earlier event; empty if there is none.
    public var id: String
    /// The event type; `message` if the server names none.
    public var type: String
    /// The data lines, joined with line feeds.
    public var data: String

    /// Creates an event.
    public init(id: String = "", type: String = "message", data: String) {
        self.id = id
        self.type = type
        self.data = data
    }
}

extension URLSession {
    /// Returns a server's events as an asynchronous sequence (server-sent events, WHATWG HTML §9.2).
    ///
    /// ```swift
    /// for try await event in session.events(for: URLRequest(url: url)) {
    ///     print(event.type, event.data)
    /// }
    /// ```
    ///
    /// The iteration opens the connection. When the connection ends or cannot be established, the sequence waits and
    /// connects again, with the field `Last-Event-ID`. The wait is the time that the server requested, or three
    /// seconds. Failed attempts double it, up to a minute. The sequence ends when the server answers with status 204.
    /// It throws an error if the response has another status or content type, if the server's certificate is rejected,
    /// or if an event is too long. A connection on which nothing arrives is replaced after the request's timeout.
    ///
    /// Events are received only as fast as the program reads them.
    ///
    /// An addition of Causeway.
    ///
    /// - Parameters:
    ///   - request: The request. The fields `Accept`, `Cache-Control` and `Last-Event-ID` are set; the first connection sends the program's
    ///     own `Last-Event-ID`, if any.
    ///   - maximumEventSize: The maximum event size in bytes. A longer event throws `URLError.dataLengthExceedsMaximum`.
    ///   - delegate: The task delegate.
    public func events(
        for request: URLRequest, maximumEventSize: Int = 1 << 20, delegate: (any URLSessionTaskDelegate)? = nil
    ) -> ServerSentEvents {
        ServerSentEvents(session: self, request: request, limit: maximumEventSize, delegate: delegate)
    }

    /// Returns a server's events as an asynchronous sequence. See ``events(for:maximumEventSize:delegate:)``.
    ///
    /// An addition of Causeway.
    public func events(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) -> ServerSentEvents {
        events(for: URLRequest(url: url), delegate: delegate)
    }
}

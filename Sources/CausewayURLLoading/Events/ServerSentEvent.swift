public import Foundation

/// An event that a server sends in a response of type `text/event-stream`.
///
/// An addition of Causeway.
public struct ServerSentEvent: Hashable, Sendable {
    /// The identifier of the event, or that of an earlier event if it has none; empty if there is none.
    public var id: String
    /// The type; `message` if the server names none.
    public var type: String
    /// The lines of data, joined with line feeds.
    public var data: String

    /// Creates an event.
    public init(id: String = "", type: String = "message", data: String) {
        self.id = id
        self.type = type
        self.data = data
    }
}

extension URLSession {
    /// Returns the events of a server as an asynchronous sequence (server-sent events, WHATWG HTML §9.2).
    ///
    /// ```swift
    /// for try await event in session.events(for: URLRequest(url: url)) {
    ///     print(event.type, event.data)
    /// }
    /// ```
    ///
    /// Iterating connects. When the connection ends or cannot be established, the sequence connects again after the time that the server
    /// requested, or three seconds, with the field `Last-Event-ID`. Failed attempts double this time, up to a minute. The sequence ends when
    /// the server answers with status 204. It throws an error if the response has another status or content type, if the certificate of the
    /// server is rejected, or if an event is too long. A silent connection is replaced after the timeout of the request.
    ///
    /// Events are received only as fast as the program reads them.
    ///
    /// An addition of Causeway.
    ///
    /// - Parameters:
    ///   - request: The request. The fields `Accept`, `Cache-Control` and `Last-Event-ID` are set; a `Last-Event-ID` of the program is sent with
    ///     the first connection.
    ///   - maximumEventSize: The maximum size of an event in bytes. A longer event throws `URLError.dataLengthExceedsMaximum`.
    ///   - delegate: The delegate of the tasks.
    public func events(
        for request: URLRequest, maximumEventSize: Int = 1 << 20, delegate: (any URLSessionTaskDelegate)? = nil
    ) -> ServerSentEvents {
        ServerSentEvents(session: self, request: request, limit: maximumEventSize, delegate: delegate)
    }

    /// Returns the events of a server as an asynchronous sequence. See ``events(for:maximumEventSize:delegate:)``.
    ///
    /// An addition of Causeway.
    public func events(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) -> ServerSentEvents {
        events(for: URLRequest(url: url), delegate: delegate)
    }
}

internal import Causeway
internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

/// A server's events, from ``URLSession/events(for:maximumEventSize:delegate:)``. Each iterator has its own connection.
///
/// An addition of Causeway.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let session: URLSession
    let request: URLRequest
    let limit: Int
    let delegate: (any URLSessionTaskDelegate)?

    /// Returns an iterator, which connects when it is first used.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Receives the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let source: ServerSentEvents
        private var reconnection = EventReconnection()
        private var parser: EventStreamParser
        private var reader: BytesReader?
        private var events: [EventStreamParser.Event] = []
        private var position = 0
        private var hasEnded = false
        /// The parse failure. It is thrown after the events that precede it have been returned.
        private var failure: LoadFailure?

        init(_ source: ServerSentEvents) {
            self.source = source
            let lastID = source.request.value(forHTTPHeaderField: "Last-Event-ID") ?? ""
            parser = EventStreamParser(lastEventID: lastID, limit: Swift.max(1, source.limit))
        }

        /// Returns the next event; `nil` after the server has ended the sequence or an error was thrown.
        ///
        /// Cancellation: closes the connection and throws `URLError.cancelled`.
        nonisolated(nonsending) public mutating func next() async throws -> ServerSentEvent? {
            while !hasEnded {
                if position < events.count {
                    let event = events[position]
                    position += 1
                    return ServerSentEvent(id: event.id, type: event.type, data: event.data)
                }
                if let failure { throw end(failure) }
                if let reader { try await read(reader) } else { try await connect() }
            }
            return nil
        }

        /// Returns the next event like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> ServerSentEvent? {
            try await next()
        }

        /// Ends the sequence after an error. Returns the error for the iterator to throw.
        private mutating func end(_ error: any Error) -> any Error {
            (hasEnded, reader) = (true, nil)
            return LoadFailure.presented(error, for: source.request.url)
        }

        nonisolated(nonsending) private mutating func read(_ reader: BytesReader) async throws {
            (events, position) = ([], 0)
            do {
                guard let piece = try await reader.next() else { return try await disconnected(isFailure: false) }
                do throws(EventStreamParser.Failure) {
                    try parser.parse(piece, into: &events)
                } catch {
                    failure = LoadFailure(.tooLarge)
                }
                if let time = parser.reconnectionTime { reconnection.setTime(milliseconds: time) }
            } catch let error as URLError where Self.isTransient(error) {
                try await disconnected(isFailure: false)
            } catch {
                throw end(error)
            }
        }

        nonisolated(nonsending) private mutating func connect() async throws {
            var request = source.request
            request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
            request.setValue("no-store", forHTTPHeaderField: "Cache-Control")
            request.cachePolicy = .reloadIgnoringLocalCacheData
            let id = parser.lastEventID
            // Do not send an identifier with characters that a header field cannot contain.
            let isSendable = !id.isEmpty && id.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            request.setValue(isSendable ? id : nil, forHTTPHeaderField: "Last-Event-ID")
            do {
                let (bytes, response) = try await source.session.bytes(for: request, delegate: source.delegate)
                try begin(bytes, response)
            } catch let error as URLError where Self.isTransient(error) {
                try await disconnected(isFailure: true)
            } catch {
                throw end(error)
            }
        }

        private mutating func begin(_ bytes: URLSession.AsyncBytes, _ response: URLResponse) throws {
            let status = (response as? HTTPURLResponse)?.statusCode ?? 200
            switch reconnection.responded(status: status, mediaType: response.mimeType?.lowercased()) {
            case .open:
                parser = EventStreamParser(lastEventID: parser.lastEventID, limit: Swift.max(1, source.limit))
                reader = bytes.reader
            case .stop: hasEnded = true
            case .fail:
                let type = response.mimeType ?? "none"
                let reason = "expected status 200 and text/event-stream; received status \(status) and type \(type)"
                throw LoadFailure(.protocolViolation, details: [LoadFailure.reasonKey: reason])
            }
        }

        /// Discards the connection that has ended. Then waits for the reconnection delay, so that the next connection
        /// can begin.
        nonisolated(nonsending) private mutating func disconnected(isFailure: Bool) async throws {
            reader = nil
            do {
                try await Task.sleep(for: reconnection.delay(afterFailure: isFailure))
            } catch {
                throw end(LoadFailure(.cancelled))
            }
        }

        /// Whether another attempt can succeed.
        private static func isTransient(_ error: URLError) -> Bool {
            switch error.code {
            case .networkConnectionLost, .timedOut, .notConnectedToInternet, .cannotConnectToHost, .cannotFindHost,
                .dnsLookupFailed, .zeroByteResource:
                true
            default: false
            }
        }
    }
}

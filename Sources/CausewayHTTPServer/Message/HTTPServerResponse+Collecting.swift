internal import CausewaySystem
public import FoundationEssentials

extension HTTPServerResponse {
    /// Returns the response that a server sends when a handler throws an error: that of an ``HTTPServerError`` has its
    /// status and message, any other has status 500 and hides the error's text.
    public static func error(_ error: any Error) -> HTTPServerResponse { ErrorContent.response(for: error) }
}

extension HTTPServerResponse.Body {
    /// Returns the whole content, for a test or for middleware that changes it. Runs the closure of content that is
    /// written in chunks.
    ///
    /// The server applies conditions and ranges later, and sends no content in response to HEAD.
    ///
    /// - Parameter limit: The maximum content length in bytes.
    /// - Throws: ``HTTPServerError`` with the code `contentTooLong` and status 500 if there are more bytes, or
    ///   `invalidMessage` if there are more or fewer bytes than stated, or for a WebSocket; the closure's error.
    public func collect(upTo limit: Int) async throws -> Data {
        switch kind {
        case .none:
            return Data()
        case .data(let data):
            let collector = ContentCollector(length: nil, limit: limit)
            try collector.append(data)
            return try collector.finish()
        case .file(let file):
            guard file.length <= limit else { throw ContentCollector.excess }
            let collector = ContentCollector(length: file.length, limit: limit)
            try collector.append(Data(file.read(file.length, at: 0)))
            return try collector.finish()
        case .stream(let length, let write):
            let collector = ContentCollector(length: length, limit: limit)
            try await write(HTTPServerBodyWriter(destination: .collector(collector)))
            return try collector.finish()
        case .webSocket:
            throw HTTPServerError(.invalidMessage, 500, "a WebSocket has no content")
        }
    }
}

/// Collects a response's content, with a limit.
final class ContentCollector: Sendable {
    private struct State {
        var content = Data()
        /// The failure of a chunk. The writer may have ignored it, but the content is incomplete.
        var failure: HTTPServerError?
    }

    /// The failure of a response beyond the limit. The program made the response, so the client is not at fault.
    static let excess = HTTPServerError(.contentTooLong, 500, "the content of the response is too long")

    /// The stated length; `nil` if there is none.
    private let length: Int?
    private let limit: Int
    private let state = LockedValue(State())

    init(length: Int?, limit: Int) {
        self.length = length
        self.limit = limit
    }

    func append(_ piece: Data) throws(HTTPServerError) {
        let failure = state.withLock { state -> HTTPServerError? in
            let count = state.content.count + piece.count
            if let length, count > length {
                state.failure = HTTPServerError(.invalidMessage, 500, "the content is longer than stated")
            } else if count > limit {
                state.failure = Self.excess
            } else {
                state.content += piece
            }
            return state.failure
        }
        if let failure { throw failure }
    }

    /// Returns the content.
    func finish() throws(HTTPServerError) -> Data {
        let (content, failure) = state.withLock { ($0.content, $0.failure) }
        if let failure { throw failure }
        guard length.map({ $0 == content.count }) ?? true else {
            throw HTTPServerError(.invalidMessage, 500, "the content is shorter than stated")
        }
        return content
    }
}

/// Why a request failed.
///
/// A handler can throw an error with ``init(status:_:)``: the client then receives a response with this status.
public struct HTTPServerError: Error, Sendable {
    /// The kind of failure, for programs to act on.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, Sendable { case status, clientGone, contentTooLong, invalidMessage }
        private let kind: Kind

        /// The handler refuses the request with a status.
        public static let status = Code(kind: .status)
        /// The client closed the connection or cancelled the request.
        public static let clientGone = Code(kind: .clientGone)
        /// The request content is longer than ``HTTPServer/Configuration/maximumContentLength``, or some content is
        /// longer than the limit of the call that reads it.
        public static let contentTooLong = Code(kind: .contentTooLong)
        /// The response cannot be sent, for example because a field contains a line end.
        public static let invalidMessage = Code(kind: .invalidMessage)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public var code: Code
    /// The response status, if no response has begun.
    public var status: Int
    /// The reason, in one line. It becomes the response content.
    public var message: String

    /// Creates an error that refuses a request.
    ///
    /// - Parameters:
    ///   - status: The response status, 400 to 599.
    ///   - message: The response content. If this text is empty, the content is the status's reason phrase.
    public init(status: Int, _ message: String = "") { self.init(.status, status, message) }

    init(_ code: Code, _ status: Int, _ message: String) {
        self.code = code
        self.status = status
        self.message = message
    }

    static let clientGone = HTTPServerError(.clientGone, 499, "the client closed the connection")
    static let contentTooLong = HTTPServerError(.contentTooLong, 413, "the content is too long")
}

extension HTTPServerError: CustomStringConvertible {
    /// The message, or the status if there is none.
    public var description: String { message.isEmpty ? "status \(status)" : message }
}

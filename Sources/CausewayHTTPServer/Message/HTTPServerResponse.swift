public import FoundationEssentials

/// A handler's response.
///
/// The server adds `Date`, `Content-Length` and the framing fields. It sends no content in response to HEAD, evaluates conditional requests
/// for responses with `ETag` or `Last-Modified`, and sends only the requested ranges of such responses (RFC 9110 §13, §14).
public struct HTTPServerResponse: Sendable {
    /// The status code, 200 to 599.
    public var status: Int
    /// The header fields.
    public var fields: HTTPServerFields
    /// The content.
    public var body: Body

    /// A response's content.
    public struct Body: Sendable {
        enum Kind: Sendable {
            case none
            case data(Data)
            case file(ServedFile)
            case stream(length: Int?, @Sendable (HTTPServerBodyWriter) async throws -> Void)
            case webSocket(WebSocketRoute)
        }

        let kind: Kind

        /// No content.
        public static let none = Body(kind: .none)

        /// Content in memory.
        public static func data(_ data: Data) -> Body { Body(kind: .data(data)) }

        /// Content that a closure writes in chunks. The closure runs after the handler has returned. If it throws, the
        /// client can detect that the response is incomplete.
        ///
        /// - Parameters:
        ///   - length: The number of bytes; `nil` if it is not known.
        ///   - write: Writes the content.
        public static func stream(
            length: Int? = nil, _ write: @escaping @Sendable (HTTPServerBodyWriter) async throws -> Void
        ) -> Body {
            Body(kind: .stream(length: length, write))
        }

        /// Content that a sequence produces in chunks.
        ///
        /// - Parameters:
        ///   - pieces: The chunks of content.
        ///   - length: The number of bytes; `nil` if it is not known.
        public static func sequence<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Int? = nil) -> Body
        where Pieces.Element == Data {
            stream(length: length) { writer in try await writer.write(contentsOf: pieces) }
        }

        /// A file's content. The file is opened at once and read while it is sent.
        ///
        /// - Throws: ``HTTPServerError`` with status 404 if the file does not exist or is not a regular file, and 403 if it cannot be read.
        public static func file(_ path: String) throws(HTTPServerError) -> Body {
            Body(kind: .file(try ServedFile(opening: path)))
        }
    }

    /// Creates a response.
    public init(status: Int = 200, fields: HTTPServerFields = HTTPServerFields(), body: Body = .none) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

extension HTTPServerResponse {
    /// Returns a response with plain text.
    public static func text(_ text: String, status: Int = 200) -> HTTPServerResponse {
        content(Data(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// Returns a response with an HTML document.
    public static func html(_ text: String, status: Int = 200) -> HTTPServerResponse {
        content(Data(text.utf8), type: "text/html; charset=utf-8", status: status)
    }

    /// Returns a response with a JSON value.
    ///
    /// - Throws: The encoder's error.
    public static func json(_ value: some Encodable, status: Int = 200) throws -> HTTPServerResponse {
        content(try JSONEncoder().encode(value), type: "application/json", status: status)
    }

    /// Returns a response with content in memory.
    public static func content(_ data: Data, type: String, status: Int = 200) -> HTTPServerResponse {
        HTTPServerResponse(status: status, fields: ["Content-Type": type], body: .data(data))
    }

    /// Returns a response with a file's content. Sets `ETag`, `Last-Modified` and `Content-Type`.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - type: The media type; `nil` to derive it from the file name.
    /// - Throws: ``HTTPServerError`` with status 404 if the file does not exist or is not a regular file, and 403 if it cannot be read.
    public static func file(_ path: String, type: String? = nil) throws(HTTPServerError) -> HTTPServerResponse {
        response(of: try ServedFile(opening: path), type: type ?? MediaTypes.type(ofFile: path))
    }

    static func response(of file: ServedFile, type: String) -> HTTPServerResponse {
        HTTPServerResponse(
            fields: ["Content-Type": type, "ETag": file.entityTag, "Last-Modified": file.lastModified],
            body: Body(kind: .file(file)))
    }

    /// Returns a response that sends the client to another location.
    public static func redirect(to location: String, status: Int = 303) -> HTTPServerResponse {
        HTTPServerResponse(status: status, fields: ["Location": location])
    }

    /// Returns a response with a status and its reason phrase as text.
    public static func status(_ status: Int) -> HTTPServerResponse {
        ErrorContent.response(HTTPServerError(status: status))
    }
}

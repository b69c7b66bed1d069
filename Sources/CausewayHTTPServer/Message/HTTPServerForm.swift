internal import CausewayProtocols
internal import CausewayWire
public import FoundationEssentials

/// The description of one part in a `multipart/form-data` form (RFC 7578 §4).
public struct HTTPServerFormPart: Hashable, Sendable {
    /// The form field's name.
    public let name: String
    /// The file name that the client states, without folders and control characters. `nil` if the part is not a file,
    /// or if the client states no usable name.
    public let filename: String?
    /// The media type that the client states; `nil` for text.
    public let mediaType: String?

    init?(_ fields: FieldSection) {
        guard let part = MultipartPart(fields) else { return nil }
        name = part.name
        filename = part.filename.flatMap(Self.filename)
        mediaType = part.mediaType
    }

    /// Makes a client's name usable as a file name, without folders and control characters; `nil` if nothing is left.
    public static func filename(_ name: String) -> String? { ContentDisposition.lastComponent(name) }
}

/// A form's parts as they arrive: a part's description, its content in chunks, and the next part.
///
/// The memory is bounded: content is passed on as it arrives, and the server stops reading while the program does not read. A form has at
/// most 1,000 parts.
public struct HTTPServerForm: AsyncSequence, Sendable {
    /// What the program gets in one step while it reads a form.
    public enum Element: Sendable {
        /// A part begins.
        case part(HTTPServerFormPart)
        /// The next piece of a part's content.
        case content(Data)
        /// The part's content is complete.
        case end
    }

    /// A part with its content.
    public struct Field: Sendable {
        /// The description.
        public let part: HTTPServerFormPart
        /// The content.
        public let content: Data
        /// The content as UTF-8 text. Invalid bytes are replaced.
        public var text: String { String(decoding: content, as: UTF8.self) }
    }

    let body: HTTPServerRequestBody
    let boundary: MultipartBoundary

    /// Reads a form's parts.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pieces: HTTPServerRequestBody.AsyncIterator
        private var decoder: MultipartDecoder
        private var events: [MultipartDecoder.Event] = []
        private var position = 0

        init(_ form: HTTPServerForm) {
            pieces = form.body.makeAsyncIterator()
            decoder = MultipartDecoder(form.boundary)
        }

        /// Returns the next step; `nil` at the end of the form.
        ///
        /// Cancellation: throws `CancellationError`.
        ///
        /// - Throws: ``HTTPServerError`` with status 400 for a malformed form, `contentTooLong`, or `clientGone`.
        nonisolated(nonsending) public mutating func next() async throws -> Element? {
            while position == events.count {
                (events, position) = ([], 0)
                let piece = try await pieces.next()
                do throws(HTTPSyntaxError) {
                    guard let piece else {
                        try decoder.finish()
                        return nil
                    }
                    try decoder.decode(Array(piece)[...], into: &events)
                } catch {
                    throw HTTPServerError(status: 400, "malformed form: \(error)")
                }
            }
            defer { position += 1 }
            switch events[position] {
            case .part(let fields):
                guard let part = HTTPServerFormPart(fields) else {
                    throw HTTPServerError(status: 400, "malformed form: a part has no name")
                }
                return .part(part)
            case .content(let bytes): return .content(Data(bytes))
            case .partEnd: return .end
            }
        }

        /// Returns the next step like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            try await next()
        }
    }

    /// Returns an iterator over the steps.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the whole form.
    ///
    /// - Parameter limit: The maximum total content length in bytes.
    /// - Throws: ``HTTPServerError`` with the code `contentTooLong` if there are more bytes, and the iterator's errors.
    public func collect(upTo limit: Int) async throws -> [Field] {
        var fields: [Field] = []
        var current: HTTPServerFormPart?
        var content = Data()
        var rest = limit
        for try await step in self {
            switch step {
            case .part(let part): (current, content) = (part, Data())
            case .content(let piece):
                guard piece.count <= rest else { throw HTTPServerError.contentTooLong }
                rest -= piece.count
                content += piece
            case .end: if let current { fields.append(Field(part: current, content: content)) }
            }
        }
        return fields
    }
}

extension HTTPServerRequest {
    /// The content as a `multipart/form-data` form (RFC 7578); `nil` if the request has another type or no valid
    /// boundary.
    ///
    /// The form reads from ``body``, so each chunk of content is available only once: in the form or in ``body``.
    public var form: HTTPServerForm? {
        guard let value = fields["Content-Type"], let type = MediaType(parsing: value),
            type.essence == "multipart/form-data", let boundary = MultipartBoundary.of(type)
        else { return nil }
        return HTTPServerForm(body: body, boundary: boundary)
    }
}

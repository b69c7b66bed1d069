internal import CausewayTypes
internal import CausewayWire
public import FoundationEssentials

extension HTTPServerRequest {
    /// Reads the content as a JSON value. The media type must be JSON: `application/json`, or a type with the suffix
    /// `+json` (RFC 6839 §3.1).
    ///
    /// ```swift
    /// routes.post("/users") { request in
    ///     let user = try await request.decode(User.self, upTo: 1 << 20)
    ///     return try .json(user, status: 201)
    /// }
    /// ```
    ///
    /// A page of another site can make a browser send JSON with the user's cookies, but only as plain text or without a
    /// type. The server's consent (CORS) is needed for the type of JSON.
    ///
    /// Cancellation: throws `CancellationError`. No content is lost.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - limit: The maximum content length in bytes.
    ///   - decoder: The decoder.
    /// - Throws: ``HTTPServerError`` with status 415 for another media type or none (RFC 9110 §15.5.16), 400 if the
    ///   content is not JSON of this type, `contentTooLong` (413), or `clientGone`.
    nonisolated(nonsending)
        public func decode<Value: Decodable>(
            _ type: Value.Type = Value.self, upTo limit: Int = 2 << 20, decoder: JSONDecoder = JSONDecoder()
        ) async throws -> Value
    {
        guard isJSON else { throw HTTPServerError(status: 415, "the content is not JSON") }
        return try await json(type, upTo: limit, decoder: decoder)
    }

    private var isJSON: Bool {
        guard let type = fields["Content-Type"].flatMap({ MediaType(parsing: $0) }) else { return false }
        return type.essence == "application/json" || type.subtype.hasSuffix("+json")
    }

    /// Reads the content as a JSON value of any media type. ``decode(_:upTo:decoder:)`` checks the type.
    ///
    /// Cancellation: throws `CancellationError`. No content is lost.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - limit: The maximum content length in bytes.
    ///   - decoder: The decoder.
    /// - Throws: ``HTTPServerError`` with status 400 if the content is not JSON of this type, `contentTooLong`, or `clientGone`.
    nonisolated(nonsending)
        public func json<Value: Decodable>(
            _ type: Value.Type = Value.self, upTo limit: Int = 2 << 20, decoder: JSONDecoder = JSONDecoder()
        ) async throws -> Value
    {
        let content = try await body.collect(upTo: limit)
        do {
            return try decoder.decode(type, from: content)
        } catch let error as DecodingError {
            throw HTTPServerError(status: 400, "malformed JSON: \(error.reason)")
        }
    }

    /// Reads the content as text. The media type names the character set: UTF-8, US-ASCII or ISO-8859-1; UTF-8 if it names none.
    ///
    /// Cancellation: throws `CancellationError`. No content is lost.
    ///
    /// - Parameter limit: The maximum content length in bytes.
    /// - Throws: ``HTTPServerError`` with status 400 for invalid UTF-8, 415 for another character set, `contentTooLong`, or `clientGone`.
    nonisolated(nonsending)
        public func text(upTo limit: Int = 2 << 20) async throws -> String
    {
        let type = fields["Content-Type"].flatMap { MediaType(parsing: $0) }
        let charset = type?.charset ?? "utf-8"
        let content = try await body.collect(upTo: limit)
        switch charset {
        case "utf-8", "utf8", "us-ascii":
            guard let text = String(validating: content, as: UTF8.self) else {
                throw HTTPServerError(status: 400, "the text is not UTF-8")
            }
            return text
        case "iso-8859-1", "latin1":
            var text = String.UnicodeScalarView()
            for byte in content { text.append(Unicode.Scalar(byte)) }
            return String(text)
        // A character set is part of the media type, so the status is 415 (RFC 9110 §15.5.16).
        default: throw HTTPServerError(status: 415, "the character set is not supported")
        }
    }
}

extension DecodingError {
    /// A description of the decoding error in one line. Its parts can come from the client, such as keys and values, so
    /// its length is limited and its control characters are escaped.
    fileprivate var reason: String {
        let text = String(String.UnicodeScalarView(explanation.unicodeScalars.prefix(200)))
        return PrintableText(foreign: text).text
    }

    /// A description of the decoding error, with the location of the invalid value.
    private var explanation: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            Self.explanation(context.debugDescription, context.codingPath)
        case .keyNotFound(let key, let context):
            Self.explanation("no value for '\(key.stringValue)'", context.codingPath)
        @unknown default: "invalid value"
        }
    }

    private static func explanation(_ reason: String, _ path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return reason }
        return reason + " at " + path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
}

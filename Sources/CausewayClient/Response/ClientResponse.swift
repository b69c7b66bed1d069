internal import CausewayWire
public import CausewayURLLoading
public import Foundation

/// A response whose content was converted to a value.
public struct ClientResponse<Value: Sendable>: Sendable {
    /// The content, as the serializer made it.
    public let value: Value
    /// The status and the header fields.
    public let http: HTTPURLResponse
    /// The number of attempts.
    public let attempts: Int

    /// The status.
    public var status: Int { http.statusCode }

    /// Whether the content came from the session's cache. Either no request was sent, or the server confirmed the
    /// stored content with status 304.
    public var isFromCache: Bool { http.isFromCache }

    /// Returns a header field's value, or `nil`. The name is case-insensitive.
    public func header(_ name: String) -> String? { http.value(forHTTPHeaderField: name) }
}

/// A response with its content as bytes: the input of a ``ResponseSerializer``.
public struct ReceivedResponse: Sendable {
    /// The content.
    public let data: Data
    /// The status and the header fields.
    public let http: HTTPURLResponse

    /// Creates a response, for serializer tests.
    public init(data: Data, http: HTTPURLResponse) {
        self.data = data
        self.http = http
    }

    /// The status.
    public var status: Int { http.statusCode }

    /// The media type and subtype in lower case, without parameters; `nil` if the response names none.
    public var mediaType: String? { parsedType?.essence }

    /// The character encoding's name in lower case; `nil` if the response names none.
    public var charset: String? { parsedType?.charset }

    private var parsedType: MediaType? {
        http.value(forHTTPHeaderField: "Content-Type").flatMap { MediaType(parsing: $0) }
    }
}

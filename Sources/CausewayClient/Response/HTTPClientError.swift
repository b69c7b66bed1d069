public import CausewayURLLoading
public import Foundation

/// A request's failure, with the response if there was one.
///
/// Cancellation is not reported by this type: a cancelled caller gets `CancellationError`.
public struct HTTPClientError: Error, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let description: String

        /// The request cannot be sent: its path, its query or its content is invalid.
        public static let invalidRequest = Code(description: "invalid request")
        /// The request's URL has another origin than the client.
        public static let foreignOrigin = Code(description: "foreign origin")
        /// The connection failed, or ended before the response was complete. ``HTTPClientError/underlying`` is the `URLError`.
        public static let transport = Code(description: "transport failed")
        /// The serializer does not accept the response status.
        public static let unacceptableStatus = Code(description: "unacceptable status")
        /// The serializer does not accept the response's media type.
        public static let unacceptableContentType = Code(description: "unacceptable content type")
        /// The content is longer than ``HTTPClient/Configuration/maximumContentLength``.
        public static let contentTooLong = Code(description: "content too long")
        /// The serializer could not read the content. ``HTTPClientError/underlying`` is its error.
        public static let serialization = Code(description: "serialization failed")
        /// An interceptor failed. ``HTTPClientError/underlying`` is its error.
        public static let interceptor = Code(description: "interceptor failed")
        /// The ``MeteredPolicy`` refused a large transfer on a metered network.
        public static let meteredNetwork = Code(description: "metered network")
        /// A file could not be written.
        public static let file = Code(description: "file failed")
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the failure, for logs and users.
    public let message: String
    /// The underlying error.
    public let underlying: (any Error)?
    /// The response without its content; `nil` if none arrived.
    public internal(set) var response: HTTPURLResponse?
    /// The beginning of the response content, at most ``HTTPClient/Configuration/maximumErrorContentLength`` bytes.
    public internal(set) var content = Data()
    /// The method and the URL without its query, user and password, which can be secrets.
    public internal(set) var request: String?
    /// The number of attempts.
    public internal(set) var attempts = 0
    /// The fate of the requests before the one that failed.
    package internal(set) var earlier = EarlierRequests.none

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The response status; `nil` if no response arrived.
    public var status: Int? { response?.statusCode }

    /// The response's header fields.
    public var headers: [String: String] {
        (response?.allHeaderFields ?? [:]).reduce(into: [:]) { fields, field in
            if let name = field.key as? String { fields[name] = "\(field.value)" }
        }
    }

    /// A one-line description of the failure, without content and header fields.
    public var description: String {
        let place = request.map { "\($0): " } ?? ""
        let status = status.map { " (status \($0))" } ?? ""
        return "\(place)\(code)\(status): \(message)"
    }

    /// Returns the error with its request and response added.
    func about(_ urlRequest: URLRequest, _ response: HTTPURLResponse? = nil, _ content: Data = Data(), attempts: Int)
        -> Self
    {
        var error = self
        error.request = Self.name(of: urlRequest)
        error.response = response ?? error.response
        error.content = content
        error.attempts = attempts
        return error
    }

    /// Returns the error with the fate of earlier requests added.
    func after(_ earlier: EarlierRequests) -> Self {
        var error = self
        error.earlier = earlier
        return error
    }

    /// Returns a request's method and URL without secrets.
    static func name(of request: URLRequest) -> String {
        let url = request.url
        let port = url?.port.map { ":\($0)" } ?? ""
        return
            "\(request.httpMethod ?? "GET") \(url?.scheme ?? "")://\(url?.host ?? "")\(port)\(url?.path(percentEncoded: true) ?? "")"
    }
}

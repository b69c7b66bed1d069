/// Checks a response and makes a value from its content.
///
/// The client has serializers for JSON, property lists, XML, text, images and bytes. A program adds its own with a closure:
///
/// ```swift
/// let serializer = ResponseSerializer<Invoice>(accepting: ["application/x-invoice"]) { response in
///     try InvoiceParser().parse(response.data)
/// }
/// ```
///
/// A response with an unaccepted status or media type is not passed to the closure. It becomes an ``HTTPClientError`` with the status, the
/// header fields and the beginning of the content.
public struct ResponseSerializer<Value: Sendable>: Sendable {
    /// The accepted statuses. The default is 200 to 299.
    public var statuses: Range<Int> = 200..<300
    /// The accepted media types: `type/subtype`, `type/*`, or `*/*+suffix`. An empty list accepts all types. A response
    /// without a type is accepted, because a server may leave it out (RFC 9110 §8.3).
    public var mediaTypes: [String] { types.names }
    let types: MediaTypeSet
    private let make: @Sendable (ReceivedResponse) throws -> Value

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - mediaTypes: The accepted media types. They are sent in the `Accept` field if the request has none.
    ///   - make: Makes the value. Its errors become ``HTTPClientError/Code/serialization``; an ``HTTPClientError`` is passed on.
    public init(accepting mediaTypes: [String] = [], _ make: @escaping @Sendable (ReceivedResponse) throws -> Value) {
        self.init(MediaTypeSet(mediaTypes), make)
    }

    init(_ types: MediaTypeSet, _ make: @escaping @Sendable (ReceivedResponse) throws -> Value) {
        self.types = types
        self.make = make
    }

    /// Returns a copy of this serializer that accepts the given statuses instead.
    public func accepting(statuses: Range<Int>) -> Self {
        var other = self
        other.statuses = statuses
        return other
    }

    /// Returns a serializer with the same checks. It first makes the same value as this serializer. Then `convert`
    /// converts the value.
    public func map<Other: Sendable>(_ convert: @escaping @Sendable (Value) throws -> Other) -> ResponseSerializer<
        Other
    > {
        let make = make
        return ResponseSerializer<Other>(types) { try convert(make($0)) }.accepting(statuses: statuses)
    }

    /// Checks a response and returns its value.
    ///
    /// - Throws: ``HTTPClientError`` without the request's method, URL and number of attempts.
    public func value(of response: ReceivedResponse) throws(HTTPClientError) -> Value {
        try validate(response)
        do {
            return try make(response)
        } catch let error as HTTPClientError {
            throw error
        } catch {
            throw HTTPClientError(.serialization, "\(error)", underlying: error)
        }
    }

    /// Checks a response's status and media type.
    func validate(_ response: ReceivedResponse) throws(HTTPClientError) {
        try types.validate(response, statuses: statuses)
    }
}

extension MediaTypeSet {
    /// Checks a response's status and media type.
    func validate(_ response: ReceivedResponse, statuses: Range<Int>) throws(HTTPClientError) {
        guard statuses.contains(response.status) else {
            throw HTTPClientError(.unacceptableStatus, "expected \(statuses.lowerBound) to \(statuses.upperBound - 1)")
        }
        // Without content, for example after status 204 or HEAD, there is no content type to check.
        guard !containsAll, !response.data.isEmpty,
            let field = response.http.value(forHTTPHeaderField: "Content-Type"), !names(field),
            let type = response.mediaType
        else { return }
        guard contains(type) else {
            throw HTTPClientError(.unacceptableContentType, "\(type), expected \(names.joined(separator: ", "))")
        }
    }
}

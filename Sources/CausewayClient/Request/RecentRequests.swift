/// The prepared forms of recent simple requests, so that a repeated request is not built from text again.
///
/// Only requests that consist of a method and a path are kept. Parameters, header fields and contents can be secrets, and mostly differ.
/// The number of requests and the length of their paths are bounded. A new request replaces the request in its slot.
struct RecentRequests: Sendable {
    /// A simple request's components, besides its client's settings.
    struct Shape: Hashable, Sendable {
        private let path: String
        private let method: String
        private let accept: String?

        /// - Returns: `nil` unless the request is simple.
        init?(
            _ method: String, _ path: RequestPath, _ query: RequestParameters, _ headers: [String: String],
            _ body: RequestBody, accept: String?
        ) {
            guard query.isEmpty, headers.isEmpty, path.query == nil, path.mistake == nil, body.isNone,
                path.path.utf8.count <= RecentRequests.maximumPathLength
            else { return nil }
            self.path = path.path
            self.method = method
            self.accept = accept
        }

        /// - Returns: `nil` unless the request is simple.
        init?(_ request: ClientRequest, accept: String?) {
            guard case .path(let path) = request.target, request.rules.isEmpty else { return nil }
            self.init(request.method, path, request.query, request.headers, request.body, accept: accept)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(path)
            hasher.combine(method)
        }
    }

    /// The maximum number of requests.
    static let capacity = 32
    /// The maximum path length in bytes.
    static let maximumPathLength = 256

    private var places: [(shape: Shape, request: PreparedRequest)?] = Array(repeating: nil, count: capacity)

    /// The number of requests.
    var count: Int { places.count { $0 != nil } }

    /// Returns a request's prepared form; `nil` if it is not kept.
    func find(_ shape: Shape) -> PreparedRequest? {
        guard let place = places[Self.place(of: shape)], place.shape == shape else { return nil }
        return place.request
    }

    /// Keeps a request's prepared form.
    mutating func keep(_ request: PreparedRequest, as shape: Shape) { places[Self.place(of: shape)] = (shape, request) }

    private static func place(of shape: Shape) -> Int { shape.hashValue & (capacity - 1) }
}

/// The prepared forms of recent simple requests. A repeated request then need not be built from text again.
///
/// A request is simple if it consists of a method and a path. Other requests are not kept: their parameters, header
/// fields or content can be secret, and such requests are seldom equal. The number of requests and the length of their
/// paths are bounded.
///
/// A hash of the method and the path selects the request's position in the table. A new request replaces the request at
/// its position.
struct RecentRequests: Sendable {
    /// The components by which simple requests of the same client differ.
    struct Shape: Hashable, Sendable {
        private let path: String
        private let method: String
        private let accept: String?

        /// Creates the components of a simple request, which consists of a method and a path.
        ///
        /// - Returns: `nil` if the request has parameters, header fields or content, or a path that is not permitted or
        ///   too long.
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

        /// Creates the key for a simple request, which consists only of a method and a path.
        ///
        /// - Returns: `nil` if the request has rules, parameters, header fields or content. Also `nil` if its path is
        ///   not permitted or is too long.
        init?(_ request: ClientRequest, accept: String?) {
            guard case .path(let path) = request.target, request.rules.isEmpty else { return nil }
            self.init(request.method, path, request.query, request.headers, request.body, accept: accept)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(path)
            hasher.combine(method)
        }
    }

    /// The maximum number of requests in the table.
    static let capacity = 32
    /// The maximum length in bytes of a request's path. Requests with longer paths are not added to the table.
    static let maximumPathLength = 256

    private var places: [(shape: Shape, request: PreparedRequest)?] = Array(repeating: nil, count: capacity)

    /// The number of requests in the table.
    var count: Int { places.count { $0 != nil } }

    /// Returns a request's prepared form; `nil` if it is not kept.
    func find(_ shape: Shape) -> PreparedRequest? {
        guard let place = places[Self.place(of: shape)], place.shape == shape else { return nil }
        return place.request
    }

    /// Stores a prepared request. Later requests with the same shape can then reuse it.
    mutating func keep(_ request: PreparedRequest, as shape: Shape) { places[Self.place(of: shape)] = (shape, request) }

    private static func place(of shape: Shape) -> Int { shape.hashValue & (capacity - 1) }
}

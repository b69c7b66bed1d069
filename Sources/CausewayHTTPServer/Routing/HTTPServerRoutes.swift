internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// A server's routing table: maps methods and paths to handlers.
///
/// A path consists of segments. A segment in braces, such as `{name}`, matches any segment that is not empty, and
/// becomes a path parameter. `{name...}` at the end matches the rest of the path, which may be empty. If several routes
/// match, a fixed segment takes precedence over `{name}`, and `{name}` takes precedence over `{name...}`. A route for
/// GET also answers HEAD. If a path has only routes for other methods, the server responds with status 405, or with 204
/// to OPTIONS.
public struct HTTPServerRoutes: Sendable {
    /// Answers requests that no route matches. The default responds with status 404 (RFC 9110 §15.5.5).
    public var fallback: HTTPServer.Handler = { _ in throw HTTPServerError(status: 404) }
    private var root = RouteNode()

    /// Creates an empty table.
    public init() {}

    /// Adds a route, or replaces the route with this method and path.
    ///
    /// - Parameters:
    ///   - method: The method, such as `GET`; `*` for all methods that have no route of their own.
    ///   - path: The path, beginning with `/`, without percent-encoding.
    ///   - handler: Responds to the route's requests.
    public mutating func on(_ method: String, _ path: String, _ handler: @escaping HTTPServer.Handler) {
        guard path.hasPrefix("/") else { Misuse.stop("HTTPServerRoutes: a path of a route begins with /: '\(path)'") }
        root.insert(path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)[...], method, handler)
    }

    /// Adds a route for GET and HEAD (RFC 9110 §9.3.1, §9.3.2).
    public mutating func get(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("GET", path, handler) }
    /// Adds a route for POST.
    public mutating func post(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("POST", path, handler) }
    /// Adds a route for PUT.
    public mutating func put(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("PUT", path, handler) }
    /// Adds a route for DELETE.
    public mutating func delete(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("DELETE", path, handler) }

    /// Finds a request's route and calls its handler.
    ///
    /// - Throws: The handler's error; ``HTTPServerError`` with status 400 for a malformed path.
    public func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
        guard request.path.utf8.first == UInt8(ascii: "/") else {
            // The target `*` concerns the server as a whole (RFC 9110 §9.3.7).
            if request.path == "*" { return HTTPServerResponse(status: 204) }
            return try await fallback(request)
        }
        var segments: [String] = []
        let path = request.path.utf8.dropFirst()
        for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let decoded = PercentCoding.decoded(Substring(segment)) else {
                throw HTTPServerError(status: 400, "malformed path")
            }
            segments.append(decoded)
        }
        var values: [(String, String)] = []
        guard let node = root.node(for: segments[...], &values) else { return try await fallback(request) }
        guard let handler = node.handler(for: request.routeMethod) else { return node.refusal(of: request.method) }
        guard !values.isEmpty else { return try await handler(request) }
        var request = request
        request.parameters = Dictionary(values) { _, last in last }
        return try await handler(request)
    }
}

extension HTTPServerRequest {
    /// The method that selects a route. A WebSocket handshake in HTTP/2 uses CONNECT (RFC 8441 §4), in HTTP/1.1 GET.
    fileprivate var routeMethod: String { head.protocolName == "websocket" ? "GET" : method }
}

/// A path segment in the routing tree.
private struct RouteNode: Sendable {
    private var fixed: [String: RouteNode] = [:]
    /// The node for a parameter segment. An array of at most one element, because a struct cannot contain itself.
    private var parameter: [(name: String, node: RouteNode)] = []
    /// The node for the rest of a path. An array of at most one element.
    private var rest: [(name: String, node: RouteNode)] = []
    private var handlers: [(method: String, handler: HTTPServer.Handler)] = []

    mutating func insert(_ segments: ArraySlice<Substring>, _ method: String, _ handler: @escaping HTTPServer.Handler) {
        guard let segment = segments.first else {
            handlers.removeAll { $0.method == method }
            return handlers.append((method, handler))
        }
        guard segment.hasPrefix("{"), segment.hasSuffix("}") else {
            return fixed[String(segment), default: RouteNode()].insert(segments.dropFirst(), method, handler)
        }
        let name = segment.dropFirst().dropLast()
        if name.hasSuffix("...") {
            guard segments.count == 1 else { Misuse.stop("HTTPServerRoutes: {name...} is the last segment of a path") }
            if rest.isEmpty { rest = [("", RouteNode())] }
            rest[0].name = String(name.dropLast(3))
            rest[0].node.insert([], method, handler)
        } else {
            if parameter.isEmpty { parameter = [("", RouteNode())] }
            parameter[0].name = String(name)
            parameter[0].node.insert(segments.dropFirst(), method, handler)
        }
    }

    /// Returns a path's node and the values of its parameters.
    func node(for segments: ArraySlice<String>, _ values: inout [(String, String)]) -> RouteNode? {
        if let segment = segments.first {
            if let found = fixed[segment]?.node(for: segments.dropFirst(), &values) { return found }
            if let (name, node) = parameter.first, !segment.isEmpty {
                let count = values.count
                values.append((name, segment))
                if let found = node.node(for: segments.dropFirst(), &values) { return found }
                values.removeLast(values.count - count)
            }
        } else if !handlers.isEmpty {
            return self
        }
        guard let (name, node) = rest.first else { return nil }
        values.append((name, segments.joined(separator: "/")))
        return node
    }

    func handler(for method: String) -> HTTPServer.Handler? {
        handlers.first { $0.method == method }?.handler
            ?? (method == "HEAD" ? handlers.first { $0.method == "GET" }?.handler : nil)
            ?? handlers.first { $0.method == "*" }?.handler
    }

    /// Responds to a method that has no handler (RFC 9110 §9.3.7, §10.2.1, §15.5.6).
    func refusal(of method: String) -> HTTPServerResponse {
        var methods = handlers.map(\.method)
        if methods.contains("GET"), !methods.contains("HEAD") { methods.append("HEAD") }
        methods.append("OPTIONS")
        var response = method == "OPTIONS" ? HTTPServerResponse(status: 204) : HTTPServerResponse.status(405)
        response.fields["Allow"] = methods.joined(separator: ", ")
        return response
    }
}

internal import CausewaySystem
internal import CausewayWire

/// A server's routing table: maps methods and paths to handlers.
///
/// A path consists of segments. A segment in braces, such as `{name}`, matches any segment that is not empty, and
/// becomes a path parameter. `{name...}` at the end matches the rest of the path, which may be empty. If several routes
/// match, a fixed segment takes precedence over `{name}`, and `{name}` takes precedence over `{name...}`. A route for
/// GET also answers HEAD. If a path has only routes for other methods, the server responds with status 405, or with 204
/// to OPTIONS.
///
/// Routes with the same prefix or the same middleware form a group:
///
/// ```swift
/// routes.use(accessLog)
/// routes.group("/admin") { admin in
///     admin.use(authentication)
///     admin.get("/users/{id}") { request in try .json(users[request.parameters.require("id", as: Int.self)]) }
/// }
/// ```
public struct HTTPServerRoutes: Sendable {
    private var root = RouteNode()
    private var middleware = MiddlewareChain()
    /// Whether the empty path is a path: that of a group's prefix.
    private var allowsEmptyPath = false

    /// Creates an empty table.
    public init() {}

    /// Answers requests that no route matches. The default responds with status 404 (RFC 9110 §15.5.5).
    ///
    /// The fallback of a group answers the requests below the group's prefix; without one, that of the table does.
    public var fallback: HTTPServer.Handler {
        get {
            if let route = root.fallback { return route.handler }
            return { _ in throw HTTPServerError(status: 404) }
        }
        set { root.fallback = Route(method: "*", names: [], handler: newValue) }
    }

    // MARK: Routes

    /// Adds a route, or replaces the route with this method and path.
    ///
    /// - Parameters:
    ///   - method: The method, such as `GET`; `*` for all methods that have no route of their own.
    ///   - path: The path, beginning with `/`, without percent-encoding. In a group it follows the group's prefix, and
    ///     may be empty.
    ///   - handler: Responds to the route's requests.
    public mutating func on(_ method: String, _ path: String, _ handler: @escaping HTTPServer.Handler) {
        guard path.hasPrefix("/") || path.isEmpty && allowsEmptyPath else {
            Misuse.stop("HTTPServerRoutes: a path of a route begins with /: '\(path)'")
        }
        root.update(at: Self.segments(ofRoute: path)) { node, names in
            node.insert(Route(method: method, names: names, handler: handler))
        }
    }

    /// Adds a route for GET and HEAD (RFC 9110 §9.3.1, §9.3.2).
    public mutating func get(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("GET", path, handler) }
    /// Adds a route for HEAD, for a path whose fields cost less than its content (RFC 9110 §9.3.2).
    public mutating func head(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("HEAD", path, handler) }
    /// Adds a route for POST.
    public mutating func post(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("POST", path, handler) }
    /// Adds a route for PUT.
    public mutating func put(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("PUT", path, handler) }
    /// Adds a route for PATCH (RFC 5789 §2).
    public mutating func patch(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("PATCH", path, handler) }
    /// Adds a route for DELETE.
    public mutating func delete(_ path: String, _ handler: @escaping HTTPServer.Handler) { on("DELETE", path, handler) }
    /// Adds a route for OPTIONS, instead of the response with the path's methods (RFC 9110 §9.3.7).
    public mutating func options(_ path: String, _ handler: @escaping HTTPServer.Handler) {
        on("OPTIONS", path, handler)
    }

    // MARK: Middleware and groups

    /// Adds middleware. Requests pass it in the order of these calls, then reach the handler.
    ///
    /// The middleware of a table sees all requests, before a route is chosen for them: also those that get status 404,
    /// and those of routes that were added before. The middleware of a group sees the requests for the paths of the
    /// group's routes, with any method.
    public mutating func use(_ middleware: @escaping HTTPServer.Middleware) { self.middleware.append(middleware) }

    /// Adds routes that have a prefix or middleware in common.
    ///
    /// The middleware of the table comes first, then that of the group, then that of a group within it. If a path has
    /// routes of several groups, requests with another method pass the middleware of the route that was added first.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the paths, with whole segments. It may contain parameters, and may be empty.
    ///   - define: Adds the routes, the middleware and the fallback of the group.
    public mutating func group(
        _ prefix: String = "", _ define: (inout HTTPServerRoutes) throws -> Void
    ) rethrows {
        let path = prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix
        guard path.isEmpty || path.hasPrefix("/"), !path.hasSuffix("...}") else {
            Misuse.stop("HTTPServerRoutes: a prefix begins with / and has no {name...}: '\(prefix)'")
        }
        var group = HTTPServerRoutes()
        group.allowsEmptyPath = allowsEmptyPath || !path.isEmpty
        try define(&group)
        let (tree, chain) = (group.root, group.middleware)
        root.update(at: Self.segments(ofRoute: path)) { node, names in node.merge(tree, names, chain) }
    }

    // MARK: Requests

    /// Finds a request's route and calls its handler, through the middleware.
    ///
    /// A server calls this method for each request. A test can make a request and call it too; see
    /// ``HTTPServerRequest/init(method:target:fields:body:from:isSecure:)``.
    ///
    /// - Throws: The error of the handler or the middleware; ``HTTPServerError`` with status 400 for a malformed path.
    ///   ``HTTPServerResponse/error(_:)`` returns the server's response to it.
    public func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
        guard middleware.isEmpty else {
            let routes = withoutMiddleware
            let handler = middleware.wrapping { request in try await routes.respond(to: request) }
            return try await handler(request)
        }
        guard request.path.utf8.first == UInt8(ascii: "/") else {
            // The target `*` concerns the server as a whole (RFC 9110 §9.3.7).
            if request.path == "*" { return HTTPServerResponse(status: 204) }
            return try await fallback(request)
        }
        let segments = try Self.segments(ofRequest: request.path)
        var values: [String] = []
        guard let node = root.node(for: segments[...], &values) else {
            values = []
            guard let route = root.nearestFallback(for: segments[...], &values) else {
                throw HTTPServerError(status: 404)
            }
            return try await route.handler(route.prepared(request, values))
        }
        if let route = node.route(for: request.routeMethod) {
            return try await route.handler(route.prepared(request, values))
        }
        guard let route = node.first, !route.middleware.isEmpty else { return node.refusal(of: request.method) }
        let refusal = route.middleware.wrapping { request in node.refusal(of: request.method) }
        return try await refusal(route.prepared(request, values))
    }

    private var withoutMiddleware: HTTPServerRoutes {
        var routes = self
        routes.middleware = MiddlewareChain()
        return routes
    }

    /// Splits the path of a route, or the prefix of a group, which may be empty.
    private static func segments(ofRoute path: String) -> ArraySlice<Substring> {
        path.isEmpty ? [] : path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)[...]
    }

    /// Splits the path of a request, and decodes its segments.
    private static func segments(ofRequest path: String) throws(HTTPServerError) -> [String] {
        var segments: [String] = []
        for segment in path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let decoded = PercentCoding.decoded(Substring(segment)) else {
                throw HTTPServerError(status: 400, "malformed path")
            }
            segments.append(decoded)
        }
        return segments
    }
}

extension HTTPServerRequest {
    /// The method that selects a route. For a WebSocket handshake this is always GET, although the handshake uses
    /// CONNECT in HTTP/2 (RFC 8441 §4).
    fileprivate var routeMethod: String { head.protocolName == "websocket" ? "GET" : method }
}

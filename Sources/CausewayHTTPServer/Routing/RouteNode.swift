internal import CausewaySystem

/// A route: its method, the names of its path parameters, and its handler.
struct Route: Sendable {
    /// The method; `*` for all that have no route of their own.
    let method: String
    /// The names of the path parameters, in the order of the path. Routes that share a node can have different names.
    let names: [String]
    /// Answers requests. Includes the middleware of the route's groups.
    let handler: HTTPServer.Handler
    /// The middleware of the route's groups, for requests with a method that the path does not have.
    var middleware = MiddlewareChain()

    /// Returns a request with the values of the path parameters.
    func prepared(_ request: HTTPServerRequest, _ values: [String]) -> HTTPServerRequest {
        guard !values.isEmpty else { return request }
        var request = request
        request.parameters = HTTPServer.Parameters(names, values)
        return request
    }

    /// Returns this route as part of a group.
    ///
    /// - Parameter outer: The names of the parameters in the group's prefix.
    func inGroup(_ outer: [String], _ chain: MiddlewareChain) -> Route {
        Route(
            method: method, names: outer + names, handler: chain.wrapping(handler),
            middleware: chain.followed(by: middleware))
    }
}

/// A path segment in the routing tree.
struct RouteNode: Sendable {
    private var fixed: [String: RouteNode] = [:]
    /// The node for a parameter segment. An array of at most one element, because a struct cannot contain itself.
    private var parameter: [RouteNode] = []
    /// The node for the rest of a path. An array of at most one element.
    private var rest: [RouteNode] = []
    private var routes: [Route] = []
    /// Answers requests below this node that no route matches. Its method has no meaning.
    var fallback: Route?

    /// Adds a route, or replaces the one with this method.
    mutating func insert(_ route: Route) {
        routes.removeAll { $0.method == route.method }
        routes.append(route)
    }

    /// Adds the routes of a group's tree below this node.
    ///
    /// - Parameter names: The names of the parameters in the group's prefix.
    mutating func merge(_ group: RouteNode, _ names: [String], _ chain: MiddlewareChain) {
        for route in group.routes { insert(route.inGroup(names, chain)) }
        if let inner = group.fallback { fallback = inner.inGroup(names, chain) }
        for (segment, node) in group.fixed { fixed[segment, default: RouteNode()].merge(node, names, chain) }
        if let node = group.parameter.first {
            if parameter.isEmpty { parameter = [RouteNode()] }
            parameter[0].merge(node, names, chain)
        }
        if let node = group.rest.first {
            if rest.isEmpty { rest = [RouteNode()] }
            rest[0].merge(node, names, chain)
        }
    }

    /// Calls `body` with the node of a path, and with the names of the path's parameters. Adds nodes that are missing.
    mutating func update(
        at path: ArraySlice<Substring>, _ names: [String] = [], _ body: (inout RouteNode, [String]) -> Void
    ) {
        guard let segment = path.first else { return body(&self, names) }
        let further = path.dropFirst()
        guard segment.hasPrefix("{"), segment.hasSuffix("}") else {
            return fixed[String(segment), default: RouteNode()].update(at: further, names, body)
        }
        let name = segment.dropFirst().dropLast()
        guard name.hasSuffix("...") else {
            if parameter.isEmpty { parameter = [RouteNode()] }
            return parameter[0].update(at: further, names + [String(name)], body)
        }
        guard further.isEmpty else { Misuse.stop("HTTPServerRoutes: {name...} is the last segment of a path") }
        if rest.isEmpty { rest = [RouteNode()] }
        body(&rest[0], names + [String(name.dropLast(3))])
    }

    /// Returns a path's node and the values of its parameters.
    func node(for segments: ArraySlice<String>, _ values: inout [String]) -> RouteNode? {
        if let segment = segments.first {
            if let found = fixed[segment]?.node(for: segments.dropFirst(), &values) { return found }
            if let node = parameter.first, !segment.isEmpty {
                let count = values.count
                values.append(segment)
                if let found = node.node(for: segments.dropFirst(), &values) { return found }
                values.removeLast(values.count - count)
            }
        } else if !routes.isEmpty {
            return self
        }
        guard let node = rest.first else { return nil }
        values.append(segments.joined(separator: "/"))
        return node
    }

    /// Returns the fallback of the longest prefix of a path that has one, and the values of the prefix's parameters.
    func nearestFallback(for segments: ArraySlice<String>, _ values: inout [String]) -> Route? {
        if let segment = segments.first {
            if let found = fixed[segment]?.nearestFallback(for: segments.dropFirst(), &values) { return found }
            if let node = parameter.first, !segment.isEmpty {
                let count = values.count
                values.append(segment)
                if let found = node.nearestFallback(for: segments.dropFirst(), &values) { return found }
                values.removeLast(values.count - count)
            }
        }
        return fallback
    }

    /// Returns the route for a method. HEAD is answered by the route for GET if there is none for HEAD.
    func route(for method: String) -> Route? {
        routes.first { $0.method == method }
            ?? (method == "HEAD" ? routes.first { $0.method == "GET" } : nil)
            ?? routes.first { $0.method == "*" }
    }

    /// The node's first route. Its groups' middleware also sees requests with a method that no route of the node has.
    var first: Route? { routes.first }

    /// Responds to a method that has no route (RFC 9110 §9.3.7, §10.2.1, §15.5.6).
    func refusal(of method: String) -> HTTPServerResponse {
        var methods = routes.map(\.method)
        if methods.contains("GET"), !methods.contains("HEAD") { methods.append("HEAD") }
        if !methods.contains("OPTIONS") { methods.append("OPTIONS") }
        var response = method == "OPTIONS" ? HTTPServerResponse(status: 204) : HTTPServerResponse.status(405)
        response.fields["Allow"] = methods.joined(separator: ", ")
        return response
    }
}

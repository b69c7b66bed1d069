internal import CausewayHTTPProtocols
public import CausewayTypes
internal import CausewayWire
public import FoundationEssentials

extension HTTPServerRequest {
    /// Makes a request without a client, for a test of a handler or of routes. No socket is involved.
    ///
    /// ```swift
    /// let request = HTTPServerRequest(method: "DELETE", target: "/users/7")
    /// let response = try await routes.respond(to: request)
    /// #expect(response.status == 204)
    /// ```
    ///
    /// The limits of a server do not apply to it, and interim responses to it are dropped. The field `Host` becomes its
    /// ``authority``.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The path, percent-encoded, with the query if there is one.
    ///   - fields: The header fields. None are added.
    ///   - body: The content. A handler reads it in one chunk.
    ///   - remoteEndpoint: The client's address.
    ///   - isSecure: Whether the request seems to have come over TLS.
    public init(
        method: String = "GET", target: String, fields: HTTPServerFields = HTTPServerFields(), body: Data = Data(),
        from remoteEndpoint: NWEndpoint = .hostPort(host: .ipv4(.loopback), port: .any), isSecure: Bool = false
    ) {
        let head = HTTPServerRequestHead(
            method: method, target: target, authority: fields["Host"], version: .http11, fields: fields.section,
            contentLength: body.count, hasContent: !body.isEmpty)
        self.init(head, .program(GivenRequest(body, from: remoteEndpoint, isSecure: isSecure)))
    }

    /// Makes a request with a JSON value without a client; see ``init(method:target:fields:body:from:isSecure:)``. Adds
    /// the field `Content-Type`.
    ///
    /// - Throws: The encoder's error.
    public init(
        method: String = "POST", target: String, fields: HTTPServerFields = HTTPServerFields(),
        json value: some Encodable
    ) throws {
        let body = try JSONEncoder().encode(value)
        var fields = fields
        fields["Content-Type"] = "application/json"
        self.init(method: method, target: target, fields: fields, body: body)
    }
}

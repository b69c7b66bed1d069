internal import Causeway
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// Prepares one connection's requests for its forwarding proxy, and processes the proxy's responses.
final class RequestForwarder: Sendable {
    private let proxy: ForwardProxy
    /// Whether the current request carries proxy credentials.
    private let hasCredential = LockedValue(false)

    init(_ proxy: ForwardProxy) { self.proxy = proxy }

    /// Returns a request head with the target in absolute form, a `Host` field that names the same host
    /// (RFC 9112 §3.2.2), and the proxy credentials.
    func head(of request: HTTPRequestValue) -> HTTPRequestHead {
        let target = request.absoluteForm
        var head = HTTPRequestHead(method: request.method, target: target, fields: request.fields)
        // Set the `Host` field to the target's host. If field and target differed, the proxy could use one of them, and
        // the server the other.
        head.fields.removeAll("Host")
        head.fields.prepend("Host", request.hostField)
        let isGiven = head.fields.contains("Proxy-Authorization")
        let known = isGiven ? nil : proxy.authorization(method: request.method, target: target, nonce: Self.nonce())
        if let known { head.fields.append("Proxy-Authorization", known) }
        hasCredential.withLock { $0 = isGiven || known != nil }
        return head
    }

    /// Processes a response from the proxy. Returns whether the proxy allows the connection to carry another request.
    func isReusable(after head: HTTPResponseHead, to origin: HTTPOrigin) -> Bool {
        let closes = head.fields.hasElement("close", in: "Proxy-Connection")
        let hadCredential = hasCredential.withLock { $0 }
        guard head.isRefusal(ofProxyWithCredential: hadCredential) else { return !closes }
        let isAnswerable = proxy.refused(
            head.fields.values(of: "Proxy-Authenticate"), hadCredential: hadCredential,
            to: origin.endpoint)
        return isAnswerable && !closes
    }

    private static func nonce() -> String {
        (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()
    }
}

extension HTTPResponseHead {
    /// Whether a forwarding proxy demands a credential or refuses the credential that it received. The proxy tinyproxy
    /// refuses a credential with status 401 and sends no challenge.
    fileprivate func isRefusal(ofProxyWithCredential hadCredential: Bool) -> Bool {
        status == 407 || status == 401 && hadCredential && !fields.contains("WWW-Authenticate")
    }
}

extension HTTPRequestValue {
    /// The request target for a proxy (RFC 9112 §3.2.2, §3.2.4). If ``target`` is neither a path nor `*`, the result is
    /// empty, and sending the request fails.
    package var absoluteForm: String {
        let origin = "http://\(hostField)"
        return target.hasPrefix("/") ? origin + target : target == "*" ? origin : ""
    }
}

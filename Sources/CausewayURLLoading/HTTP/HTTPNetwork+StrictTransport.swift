internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// HTTP Strict Transport Security (RFC 6797). A session remembers the hosts as long as it exists.
extension HTTPNetwork {
    private static var now: Int { Int(Date().timeIntervalSince1970) }

    /// Notes the policy of a response that came over a secure connection.
    func noteStrictTransport(_ fields: FieldSection, of origin: HTTPOrigin) {
        guard let policy = StrictTransportPolicy(fields) else { return }
        strictHosts.withLock { $0.note(policy, of: origin, at: Self.now) }
    }

    /// Returns a target with a secure scheme if its host wants one; `nil` otherwise.
    func secured(_ target: URIReference) -> URIReference? {
        strictHosts.withLock { $0.secured(target, at: Self.now) }
    }

    /// Returns a request with a secure scheme if its host wants one, otherwise the same request.
    func secured(_ request: URLRequest) -> URLRequest {
        guard !strictHosts.withLock({ $0.isEmpty }), let text = request.url?.absoluteString,
            let target = URIReference(text), let secure = secured(target), let url = URL(string: secure.description)
        else { return request }
        var request = request
        request.url = url
        return request
    }
}

internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Stores the alternative services that a session's origins have advertised (RFC 7838). They are kept as long as the
/// session exists.
final class AlternativeMemory: AlternativeChoosing {
    private let services = LockedValue(AlternativeServices())

    private static var now: Int { Int(Date().timeIntervalSince1970) }

    /// Records the alternative services in the `Alt-Svc` field of a response from a secure connection.
    func note(_ fields: FieldSection, of origin: HTTPOrigin) {
        guard let field = AlternativeServicesField(fields) else { return }
        let age = fields.onlyValue(of: "Age").flatMap { Int(digits: $0) } ?? 0
        services.withLock { $0.note(field, of: origin, age: age, at: Self.now) }
    }

    /// Discards an origin's alternative services after a 421 response. The server that sent this response is not
    /// responsible for the origin (RFC 7838 §6). Returns whether the origin had alternative services.
    func misdirected(_ origin: HTTPOrigin) -> Bool {
        services.withLock { services in
            guard !services.isEmpty, !services.alternatives(for: origin, at: Self.now).isEmpty else { return false }
            services.misdirected(origin)
            return true
        }
    }

    func removeAll() { services.withLock { $0 = AlternativeServices() } }

    // MARK: The engine

    func alternative(for origin: HTTPOrigin) -> AlternativeService? {
        services.withLock { services in
            services.isEmpty ? nil : services.alternative(for: origin, at: Self.now)
        }
    }

    func reached(_ service: AlternativeService, of origin: HTTPOrigin) {
        services.withLock { $0.succeeded(service, of: origin) }
    }

    func failed(_ service: AlternativeService, of origin: HTTPOrigin) {
        services.withLock { $0.failed(service, of: origin, at: Self.now) }
    }
}

extension HTTPNetwork {
    /// Records the alternative services that an origin announces. Records nothing if a proxy makes the connections (RFC
    /// 7838 §2.4).
    func noteAlternatives(_ head: HTTPResponseHead, of origin: HTTPOrigin) {
        if head.status == 421, alternatives.misdirected(origin) { return renewConnections() }
        guard head.fields.contains("Alt-Svc"), !usesProxy(isSecure: true) else { return }
        alternatives.note(head.fields, of: origin)
    }
}

import CausewayTLS
import CausewayTypes

/// An authority for the tests, and the certificates it issues.
struct Authority: Sendable {
    let identity: TLSIdentity

    static let now: Int64 = 1_790_000_000
    static let day: Int64 = 86_400

    /// An authority for tests without special requirements.
    static let shared = Authority("Test Root")

    var certificate: Certificate { identity.certificates[0] }

    init(_ name: String, by issuer: Authority? = nil, adjust: (inout CertificateTemplate) -> Void = { _ in }) {
        var template = CertificateTemplate(
            subject: name, notBefore: Self.now - 100 * Self.day, notAfter: Self.now + 100 * Self.day)
        template.isAuthority = true
        adjust(&template)
        do {
            identity = try template.issue(by: issuer?.identity)
        } catch {
            fatalError("no test authority: \(error)")
        }
    }

    /// Issues a server certificate for `names`. It is valid from ten days before ``now`` to ten days after it.
    func issue(
        _ names: [SubjectAlternativeName] = [.name("server.test")],
        adjust: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> TLSIdentity {
        var template = CertificateTemplate(
            subject: "leaf", notBefore: Self.now - 10 * Self.day, notAfter: Self.now + 10 * Self.day)
        template.names = names
        adjust(&template)
        return try template.issue(by: identity)
    }
}

extension TrustSettings {
    /// Settings that trust only the given authorities, at the time of the tests.
    static func anchored(_ authorities: Authority...) -> TrustSettings {
        var settings = TrustSettings()
        settings.anchors = authorities.map(\.certificate)
        settings.includesSystemAnchors = false
        settings.time = Authority.now
        return settings
    }
}

extension TLSSettings {
    static func client(_ adjust: (inout TLSSettings) -> Void = { _ in }) -> TLSSettings {
        var settings = TLSSettings(.client)
        settings.trust = .anchored(.shared)
        adjust(&settings)
        return settings
    }

    static func server(_ adjust: (inout TLSSettings) -> Void = { _ in }) throws -> TLSSettings {
        var settings = TLSSettings(.server)
        settings.identity = try Identities.server.get()
        settings.trust = .anchored(.shared)
        adjust(&settings)
        return settings
    }
}

/// Identities that are created once, because creating keys takes time.
enum Identities {
    static let server = Result { try Authority.shared.issue() }
    static let client = Result { try Authority.shared.issue([.email("client@test")]) }
}

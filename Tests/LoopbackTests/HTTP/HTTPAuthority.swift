import CausewayTLS
import CausewayTypes
import FoundationEssentials
import Testing

@testable import Causeway

/// An authority, and the identity of a server for `server.test` and 127.0.0.1.
struct HTTPAuthority {
    let anchor: SecCertificate
    private let server: SecIdentity

    init() throws {
        let now = Int64(Date().timeIntervalSince1970)
        func template(_ subject: String) -> CertificateTemplate {
            CertificateTemplate(subject: subject, notBefore: now - 3_600, notAfter: now + 36_000)
        }
        var root = template("HTTP Test Authority")
        root.isAuthority = true
        let identity = try root.issue()
        var leaf = template("server")
        leaf.names = [.name("server.test"), .address([127, 0, 0, 1])]
        server = SecIdentity(try leaf.issue(by: identity))
        anchor = SecCertificate(data: Data(identity.certificates[0].der))
    }

    /// Returns the options of a server that offers these application protocols.
    func serverOptions(_ protocols: [String]) throws -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        let identity = try #require(sec_identity_create(server))
        sec_protocol_options_set_local_identity(options.securityProtocolOptions, identity)
        for name in protocols {
            sec_protocol_options_add_tls_application_protocol(options.securityProtocolOptions, name)
        }
        return options
    }

    /// Returns the parameters of an engine's connection that trusts this authority.
    func clientParameters() -> NWParameters {
        let options = NWProtocolTLS.Options()
        let anchor = anchor
        sec_protocol_options_set_verify_block(
            options.securityProtocolOptions,
            { _, trust, complete in
                let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
                complete(SecTrustEvaluateWithError(trust, nil))
            }, .global())
        return NWParameters(tls: options)
    }
}

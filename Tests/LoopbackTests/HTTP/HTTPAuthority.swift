import CausewayTLS
import CausewayTypes
import FoundationEssentials
import Testing

@testable import Causeway

/// An authority, and the identity of a server for `server.test` and 127.0.0.1.
struct HTTPAuthority {
    let anchor: SecCertificate
    /// The server's certificate and private key. A client can use them too.
    let identity: SecIdentity

    /// Creates an authority.
    ///
    /// - Parameters:
    ///   - begin: The time from now at which the server's certificate becomes valid, in seconds.
    ///   - end: The time from now at which it expires.
    init(validFrom begin: Int64 = -3_600, to end: Int64 = 36_000) throws {
        let now = Int64(Date().timeIntervalSince1970)
        func template(_ subject: String, _ begin: Int64, _ end: Int64) -> CertificateTemplate {
            CertificateTemplate(subject: subject, notBefore: now + begin, notAfter: now + end)
        }
        var root = template("HTTP Test Authority", -36_000, 36_000)
        root.isAuthority = true
        let authority = try root.issue()
        var leaf = template("server", begin, end)
        leaf.names = [.name("server.test"), .address([127, 0, 0, 1])]
        identity = SecIdentity(try leaf.issue(by: authority))
        anchor = SecCertificate(data: Data(authority.certificates[0].der))
    }

    /// Returns the options of a server that offers these application protocols.
    func serverOptions(_ protocols: [String]) throws -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        let identity = try #require(sec_identity_create(identity))
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

import ArgumentParser
import Causeway
import CausewayURLLoading
import Dispatch

/// TLS options for `nw chat`.
struct ChatSecurity: ParsableArguments {
    @Flag(name: .customLong("tls"), help: "Use TLS.")
    var isOn = false

    @Option(name: .customLong("ca"), help: ArgumentHelp("Trust only the authorities in FILE (PEM).", valueName: "file"))
    var authorities: String?

    @Flag(
        name: .customLong("insecure-skip-verify"),
        help: "Accept any peer certificate. The connection is encrypted, but the peer is not authenticated.")
    var skipsVerification = false

    @Option(
        help: ArgumentHelp(
            "Present the certificate in FILE, followed by its issuers (PEM). Required with -l.", valueName: "file"))
    var cert: String?

    @Option(
        help: ArgumentHelp(
            "Read the private key of --cert from FILE (PEM). (default: the --cert file)", valueName: "file"))
    var key: String?

    func validate() throws {
        let needsTLS = authorities != nil || skipsVerification || cert != nil || key != nil
        if needsTLS, !isOn { throw ValidationError("--ca, --cert, --key and --insecure-skip-verify require --tls.") }
        if key != nil, cert == nil { throw ValidationError("--key requires --cert.") }
        if authorities != nil, skipsVerification {
            throw ValidationError("--ca and --insecure-skip-verify cannot be combined.")
        }
    }

    /// Returns the TLS settings for a stream task; `nil` if the chat does not use TLS.
    ///
    /// - Throws: ``CommandFailure`` if a file cannot be read or does not contain a certificate.
    func taskSecurity() throws -> TaskLineTransport.Security? {
        guard isOn else { return nil }
        return TaskLineTransport.Security(
            anchors: try authorities.map { try CertificateFiles.authorities($0) }, skipsVerification: skipsVerification,
            credential: try cert.map { cert in
                let identity = try CertificateFiles.identity(cert, key)
                return URLCredential(identity: identity, certificates: nil, persistence: .forSession)
            })
    }

    /// - Throws: ``CommandFailure`` if a file cannot be read or does not contain a certificate.
    func options() throws -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        let security = options.securityProtocolOptions
        if let cert, let identity = sec_identity_create(try CertificateFiles.identity(cert, key)) {
            sec_protocol_options_set_local_identity(security, identity)
        }
        if skipsVerification {
            sec_protocol_options_set_verify_block(security, { _, _, complete in complete(true) }, .global())
        } else if let authorities {
            options.trustRules.anchors = try CertificateFiles.authorities(authorities)
            options.trustRules.includesSystemAnchors = false
        }
        return options
    }
}

import ArgumentParser
import Causeway
import Dispatch

/// The TLS options of `nw chat`.
struct ChatSecurity: ParsableArguments {
    @Flag(name: .customLong("tls"), help: "Talk over TLS.")
    var isOn = false

    @Option(name: .customLong("ca"), help: ArgumentHelp("Trust these authorities only (PEM).", valueName: "file"))
    var authorities: String?

    @Flag(
        name: .customLong("insecure-skip-verify"),
        help: "Talk to whoever answers. The conversation is encrypted, and anybody may be at the other end.")
    var skipsVerification = false

    @Option(help: ArgumentHelp("Our own certificate, then its issuers (PEM). With -l it is needed.", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("The key of --cert, if it is not in that file (PEM).", valueName: "file"))
    var key: String?

    func validate() throws {
        let needsTLS = authorities != nil || skipsVerification || cert != nil || key != nil
        if needsTLS, !isOn { throw ValidationError("--ca, --cert, --key and --insecure-skip-verify need --tls.") }
        if key != nil, cert == nil { throw ValidationError("--key needs --cert.") }
        if authorities != nil, skipsVerification {
            throw ValidationError("--ca and --insecure-skip-verify exclude each other.")
        }
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

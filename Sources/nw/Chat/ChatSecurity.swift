import ArgumentParser
import Causeway
import Dispatch
import FoundationEssentials

/// TLS for the chat, as the command line asks for it.
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

    /// - Throws: ``Failure`` if a file cannot be read, or holds no certificate.
    func options() throws -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        let security = options.securityProtocolOptions
        if let cert {
            do {
                let identity = try SecIdentity(certificateFile: cert, keyFile: key)
                if let identity = sec_identity_create(identity) {
                    sec_protocol_options_set_local_identity(security, identity)
                }
            } catch {
                throw Failure("reading the certificate and key of \(cert) failed", error)
            }
        }
        if skipsVerification {
            sec_protocol_options_set_verify_block(security, { _, _, complete in complete(true) }, .global())
        } else if let authorities {
            let anchors = try Self.certificates(in: authorities)
            sec_protocol_options_set_verify_block(
                security,
                { _, trust, complete in
                    let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                    SecTrustSetAnchorCertificates(trust, anchors as CFArray)
                    complete(SecTrustEvaluateWithError(trust, nil))
                }, .global())
        }
        return options
    }

    private static func certificates(in path: String) throws -> [SecCertificate] {
        let text: String
        do {
            text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        } catch {
            throw Failure("reading \(path) failed")
        }
        let blocks = text.split(separator: "-----BEGIN CERTIFICATE-----", omittingEmptySubsequences: false).dropFirst()
        let certificates = blocks.compactMap { block -> SecCertificate? in
            let body = block.prefix { $0 != "-" }.filter { !$0.isWhitespace }
            return Data(base64Encoded: body).flatMap { SecCertificateCreateWithData(nil, $0 as CFData) }
        }
        if certificates.isEmpty { throw Failure("\(path) holds no certificate in PEM") }
        return certificates
    }
}

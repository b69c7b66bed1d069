import ArgumentParser
import Causeway
import CausewayTypes
import CausewayWire
import Dispatch
import FoundationEssentials
import Synchronization

/// TLS options for `nw cat`.
struct CatSecurity: ParsableArguments {
    @Flag(help: "Use TLS over TCP or, with -u, DTLS.")
    var tls = false

    @Option(help: ArgumentHelp("Offer or accept these application protocols, preferred first.", valueName: "name,..."))
    var alpn: String?

    @Option(
        help: ArgumentHelp(
            "Present the certificate in FILE, followed by its issuers (PEM). Required with -l, unless --psk is given.",
            valueName: "file"))
    var cert: String?

    @Option(
        help: ArgumentHelp(
            "Read the private key of --cert from FILE (PEM). (default: the --cert file)", valueName: "file"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "Trust only the authorities in FILE (PEM). With -l, require a client certificate issued by one of them.",
            valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("Use a pre-shared key; KEY is hexadecimal.", valueName: "identity:key"))
    var psk: String?

    @Option(help: ArgumentHelp("Verify the server's certificate for this name instead of HOST.", valueName: "name"))
    var serverName: String?

    @Flag(help: "Accept any server certificate. An attacker on the path can read and change all data.")
    var insecureSkipVerify = false

    @Flag(
        help: "Send the first input with the first packet, if the peer allows it. It may be delivered twice.")
    var fastOpen = false

    /// Whether the user gave an option that is useful only with TLS.
    private var isTuned: Bool {
        [alpn, cert, key, ca, psk, serverName].contains { $0 != nil } || insecureSkipVerify
    }

    func check(isServer: Bool, isSecure: Bool) throws {
        if !isSecure, isTuned { throw ValidationError("TLS options require --tls.") }
        if isServer, isSecure, cert == nil, psk == nil { throw ValidationError("-l --tls requires --cert or --psk.") }
        if isServer, insecureSkipVerify || serverName != nil {
            throw ValidationError("--insecure-skip-verify and --server-name cannot be combined with -l.")
        }
        if insecureSkipVerify, ca != nil {
            throw ValidationError("--insecure-skip-verify and --ca cannot be combined.")
        }
        if key != nil, cert == nil { throw ValidationError("--key requires --cert.") }
        _ = try preSharedKey
    }

    /// - Parameter verdict: Records the reason if a peer is not trusted.
    func makeOptions(isServer: Bool, _ verdict: CatVerdict) throws -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        let security = options.securityProtocolOptions
        for name in alpn?.split(separator: ",") ?? [] {
            sec_protocol_options_add_tls_application_protocol(security, String(name))
        }
        if let cert, let identity = sec_identity_create(try CertificateFiles.identity(cert, key)) {
            sec_protocol_options_set_local_identity(security, identity)
        }
        if let (identity, key) = try preSharedKey {
            sec_protocol_options_add_pre_shared_key(security, Self.bytes(key), Self.bytes(identity))
        }
        if let serverName { sec_protocol_options_set_tls_server_name(security, serverName) }
        let anchors = try ca.map(CertificateFiles.authorities)
        if insecureSkipVerify {
            sec_protocol_options_set_peer_authentication_required(security, false)
        } else if !isServer || anchors != nil {
            sec_protocol_options_set_peer_authentication_required(security, true)
            verdict.evaluate(by: anchors, security)
        }
        return options
    }

    private var preSharedKey: (identity: [UInt8], key: [UInt8])? {
        get throws {
            guard let psk else { return nil }
            guard let colon = psk.lastIndex(of: ":") else {
                throw ValidationError("--psk must have the form IDENTITY:KEY.")
            }
            guard let bytes = Hexadecimal.bytes(psk[psk.index(after: colon)...]), !bytes.isEmpty else {
                throw ValidationError("The key of --psk must consist of pairs of hexadecimal digits.")
            }
            return (Array(psk[..<colon].utf8), bytes)
        }
    }

    private static func bytes(_ bytes: [UInt8]) -> __DispatchData {
        bytes.withUnsafeBytes { DispatchData(bytes: $0) }
    }
}

/// Decides whether to trust the peer, and records the reason if it does not. Error messages need this record, because
/// the connection's error says only that verification failed.
final class CatVerdict: Sendable {
    private let reason = Mutex<PrintableText?>(nil)

    /// The reason why the latest peer was not trusted.
    var text: PrintableText? { reason.withLock { $0 } }

    /// - Parameter anchors: The only certificate authorities to trust; `nil` for the system's authorities.
    func evaluate(by anchors: [SecCertificate]?, _ options: sec_protocol_options_t) {
        sec_protocol_options_set_verify_block(
            options,
            { _, trust, complete in
                let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                if let anchors { SecTrustSetAnchorCertificates(trust, anchors) }
                var error: CFError?
                let isTrusted = SecTrustEvaluateWithError(trust, &error)
                self.reason.withLock { $0 = isTrusted ? nil : error.map { describe($0.underlyingError) } }
                complete(isTrusted)
            }, .global())
    }
}

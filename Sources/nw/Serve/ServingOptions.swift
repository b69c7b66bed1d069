import ArgumentParser
import Causeway

/// The address that a server listens on.
struct ListeningOptions: ParsableArguments {
    @Option(help: "Listen on this port; 0 selects a free port.")
    var port: UInt16

    @Option(help: "Listen on this local address. (default: all IPv4 and IPv6 addresses)")
    var host: String?

    func validate() throws {
        if let host, case .name = NWEndpoint.Host(host) {
            throw ValidationError("--host requires an address, not a name.")
        }
    }
}

/// The options that select the server's certificate and key.
struct ServingCertificate: ParsableArguments {
    @Option(help: ArgumentHelp("Present the certificate in FILE, followed by its issuers (PEM).", valueName: "file"))
    var cert: String?

    @Option(
        help: ArgumentHelp(
            "Read the private key of --cert from FILE (PEM). (default: the --cert file)", valueName: "file"))
    var key: String?

    func validate() throws {
        if key != nil, cert == nil { throw ValidationError("--key requires --cert.") }
    }

    /// Returns the certificate's identity; `nil` without `--cert`.
    ///
    /// - Throws: ``CommandFailure`` with the files and the reason.
    func identity() throws -> sec_identity_t? {
        try cert.flatMap { sec_identity_create(try CertificateFiles.identity($0, key)) }
    }
}

import Causeway

/// Loads certificates and keys named on the command line.
enum CertificateFiles {
    /// - Throws: ``CommandFailure`` with the file names and the reason.
    static func identity(_ cert: String, _ key: String?) throws -> SecIdentity {
        do {
            return try SecIdentity(certificateFile: cert, keyFile: key)
        } catch {
            throw CommandFailure("cannot use \(cert)\(key.map { " and \($0)" } ?? "")", error)
        }
    }

    /// - Throws: ``CommandFailure`` with the file and the reason.
    static func authorities(_ path: String) throws -> [SecCertificate] {
        do {
            return try NWProtocolTLS.Options.TrustRules.certificates(inFile: path)
        } catch NWError.posix {
            throw CommandFailure("cannot read \(path)")
        } catch {
            throw CommandFailure("cannot use \(path)", error)
        }
    }
}

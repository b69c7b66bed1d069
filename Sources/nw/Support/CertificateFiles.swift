import Causeway

/// Certificates and keys that the command line names.
enum CertificateFiles {
    /// - Throws: ``Failure`` that names the files and says what is wrong with them.
    static func identity(_ cert: String, _ key: String?) throws -> SecIdentity {
        do {
            return try SecIdentity(certificateFile: cert, keyFile: key)
        } catch {
            throw CommandFailure("cannot use \(cert)\(key.map { " and \($0)" } ?? "")", error)
        }
    }

    /// - Throws: The same.
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

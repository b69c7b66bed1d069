import Causeway
import CausewaySystem
import CausewayTLS
import FoundationEssentials

/// The directory for `nw cert`: certificates and private keys as PEM (RFC 7468 §5, RFC 5915 §4).
struct CertificateFolder {
    /// An identity; the raw value is the prefix of its two file names.
    enum Entry: String, CaseIterable {
        case ca, server, client
    }

    private let directory: String
    /// Whether to replace files that already exist, including the files of a certificate authority.
    private let replaces: Bool

    init(_ directory: String, replaces: Bool) {
        self.directory = directory
        self.replaces = replaces
    }

    func path(_ entry: Entry) -> String { directory == "." ? "\(entry).pem" : "\(directory)/\(entry).pem" }
    private func keyPath(_ entry: Entry) -> String {
        path(entry).replacing(".pem", with: ".key.pem", maxReplacements: 1)
    }

    /// - Throws: ``CommandFailure`` if a server or client file exists, or if only one of the authority's two files
    ///   exists.
    func check() throws {
        guard !replaces else { return }
        for path in [Entry.server, .client].flatMap({ [path($0), keyPath($0)] }) where DirectoryEntries.exists(path) {
            throw CommandFailure("\(path) exists; replace it with --force")
        }
        let (certificate, key) = (path(.ca), keyPath(.ca))
        guard DirectoryEntries.exists(certificate) == DirectoryEntries.exists(key) else {
            throw CommandFailure("of \(certificate) and \(key) only one exists; replace it with --force")
        }
    }

    /// Loads the authority from the directory; `nil` if there is none, or if the command replaces all files.
    func authority() throws -> TLSIdentity? {
        let (certificate, key) = (path(.ca), keyPath(.ca))
        guard !replaces, DirectoryEntries.exists(certificate) else { return nil }
        do {
            let identity = try TLSIdentity(certificates: Self.read(certificate), key: Self.read(key))
            guard identity.certificates[0].isAuthority else {
                throw CommandFailure("\(certificate) is not the certificate of an authority")
            }
            return identity
        } catch let failure as TLSFailure {
            throw CommandFailure("cannot use \(certificate) and \(key)", failure)
        }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        do {
            let file = try OpenFile(reading: path)
            var content: [UInt8] = []
            while content.count < 1 << 20, let piece = try file.readChunk(atMost: 64 << 10) { content += piece }
            return content
        } catch {
            throw CommandFailure("cannot read \(path)", error)
        }
    }

    func store(_ identity: TLSIdentity, as entry: Entry) throws {
        // Write the key first, so that a failed write never leaves a certificate without its key.
        try write(Self.pem("EC PRIVATE KEY", identity.privateKeyDER), to: keyPath(entry), isPrivate: true)
        try write(
            identity.certificates.map { Self.pem("CERTIFICATE", $0.der) }.joined(), to: path(entry), isPrivate: false)
    }

    /// Writes a file under a temporary name, and renames it when it is complete.
    private func write(_ text: String, to path: String, isPrivate: Bool) throws {
        let draft = "\(path).\(getpid())"
        do {
            do {
                let file = try OpenFile(creating: draft, isPrivate: isPrivate)
                try file.writeAll(Data(text.utf8))
                if replaces {
                    try DirectoryEntries.move(draft, to: path)
                } else {
                    try DirectoryEntries.moveWithoutReplacing(draft, to: path)
                }
            } catch {
                try? DirectoryEntries.removeFile(draft)
                throw error
            }
        } catch {
            throw CommandFailure("cannot write \(path)", error)
        }
    }

    /// Encodes a value as PEM.
    static func pem(_ label: String, _ der: [UInt8]) -> String {
        var text = "-----BEGIN \(label)-----\n"
        var rest = Data(der).base64EncodedString()[...]
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END \(label)-----\n"
    }
}

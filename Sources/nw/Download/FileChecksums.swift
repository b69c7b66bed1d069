import CausewayTypes
import CausewayWire
import FoundationEssentials

/// A file's SHA-256 digest, in hexadecimal.
struct FileChecksum: Equatable, Sendable {
    let text: String

    /// Creates a checksum from its text form. Returns `nil` if the text does not consist of 64 hexadecimal digits.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count == 64, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        self.text = text.lowercased()
    }

    init(_ digest: [UInt8]) { text = Hexadecimal.text(digest) }

    /// Computes a file's checksum. Blocks the calling thread.
    init(ofFile path: String) throws {
        let file = try OpenFile(reading: path)
        var digest = ContentDigest()
        while let piece = try file.readChunk(atMost: 1 << 20) { digest.update(piece) }
        self.init(digest.finish())
    }
}

/// A checksum list in the format of sha256sum.
struct FileChecksums: Sendable {
    /// Maximum list size in bytes.
    private static let limit = 16 << 20

    private var checksums: [String: FileChecksum] = [:]

    /// Reads the lines that consist of a checksum and a file name. Two characters separate the two: a space, and then a
    /// second space or an asterisk. If the name includes folders, only its last component is used.
    ///
    /// - Throws: ``CommandFailure`` for a list that cannot be read or has no such line.
    init(readingFrom path: String) throws {
        do {
            let file = try OpenFile(reading: path)
            var content = Data()
            while content.count < Self.limit, let piece = try file.readChunk(atMost: 64 << 10) { content += piece }
            self.init(String(decoding: content, as: UTF8.self))
        } catch {
            throw CommandFailure("cannot read \(PrintableText(foreign: path))", error)
        }
        if checksums.isEmpty { throw CommandFailure("\(PrintableText(foreign: path)) has no checksums") }
    }

    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            guard let space = line.firstIndex(of: " "), let checksum = FileChecksum(line[..<space]) else { continue }
            let name = line[line.index(after: space)...].drop { $0 == " " || $0 == "*" }
            guard let last = name.split(separator: "/").last else { continue }
            checksums[String(last)] = checksum
        }
    }

    subscript(name: String) -> FileChecksum? { checksums[name] }
}

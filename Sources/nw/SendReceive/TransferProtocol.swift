import CausewayTypes
import FoundationEssentials

/// A file's header in the protocol between `nw send` and `nw receive`, version 1.
///
/// The sender writes any number of files one after another over one TCP connection, then half-closes. Integers are in network byte order.
///
/// ```
/// bytes  content
///      4  "NWF" and the version, 1
///      2  length of the name, 1...255
///      8  length of the content
///      n  name: UTF-8, one path component
///      m  content
///     32  SHA-256 of the content
/// ```
///
/// The receiver replies to each file with one byte, ``TransferReply``, after it has read the whole file, even if it stored nothing. The
/// sender waits for the reply before it sends the next file.
struct TransferHeader: Equatable, Sendable {
    /// The header's size in bytes without the name.
    static let fixedByteCount = 14
    private static let magic = Array("NWF".utf8) + [1]

    var name: String
    var byteCount: UInt64

    enum Malformed: Error {
        case notThisProtocol
        case badNameLength
        case badName
    }

    /// Returns the encoded header, or `nil` if the name is too long for it.
    func encoded() -> Data? {
        guard let nameLength = UInt16(exactly: name.utf8.count), (1...255).contains(nameLength) else { return nil }
        var data = Data(Self.magic)
        withUnsafeBytes(of: nameLength.bigEndian) { data.append(contentsOf: $0) }
        withUnsafeBytes(of: byteCount.bigEndian) { data.append(contentsOf: $0) }
        data.append(contentsOf: name.utf8)
        return data
    }

    /// Parses the fixed part of a file's header, which precedes the name. Returns the lengths of the name and the
    /// content, in bytes.
    static func lengths(in fixed: Data) throws(Malformed) -> (name: Int, content: UInt64) {
        let bytes = [UInt8](fixed)
        guard bytes.count == fixedByteCount, bytes.starts(with: magic) else { throw .notThisProtocol }
        let name = bytes[4..<6].reduce(0) { $0 << 8 | Int($1) }
        guard (1...255).contains(name) else { throw .badNameLength }
        return (name, bytes[6..<14].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Validates a name. Refuses a name that leads out of the directory, is hidden, or misleads the user.
    ///
    /// A hidden file may change how programs behave: a shell runs `.bashrc` when it starts.
    ///
    /// - Parameter allowsHidden: Whether a name may begin with a dot.
    static func safeName(_ bytes: Data, allowsHidden: Bool = false) throws(Malformed) -> String {
        guard let name = String(validating: bytes, as: UTF8.self), !name.isEmpty, name != ".", name != "..",
            allowsHidden || name.utf8.first != UInt8(ascii: "."),
            !name.utf8.starts(with: IncomingFile.temporaryPrefix.utf8), PrintableText(foreign: name).text == name,
            !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(UInt8(ascii: "\\"))
        else { throw .badName }
        return name
    }
}

/// The receiver's reply to one file.
enum TransferReply: UInt8, Sendable {
    /// The file is on the receiver's disk under its name, and its checksum is correct.
    case stored = 0
    case nameRefused = 1
    case nameTaken = 2
    case checksumMismatch = 3
    /// The content is larger than the receiver's limit.
    case tooLarge = 4
    /// The receiver could not write, for example because the disk is full.
    case notWritten = 5

    /// The message for the sender's user.
    var explanation: String {
        switch self {
        case .stored: "stored"
        case .nameRefused: "the receiver does not accept the file name"
        case .nameTaken: "the receiver already has a file with this name"
        case .checksumMismatch: "the content was damaged in transit"
        case .tooLarge: "the file is larger than the receiver allows"
        case .notWritten: "the receiver could not write the file"
        }
    }
}

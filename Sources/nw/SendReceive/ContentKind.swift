import FoundationEssentials

/// A file's content type, detected from its first bytes.
struct ContentKind: Equatable, Sendable {
    /// A description for the user, such as `PNG image`.
    let label: String
    /// The type's usual file name extension.
    let fileExtension: String

    static let empty = ContentKind(label: "empty", fileExtension: "bin")
    static let data = ContentKind(label: "data", fileExtension: "bin")
    static let text = ContentKind(label: "text", fileExtension: "txt")

    private static let signatures: [(bytes: [UInt8], kind: ContentKind)] = [
        (Array("\u{89}PNG\r\n\u{1A}\n".unicodeScalars.map { UInt8($0.value) }), .init("PNG image", "png")),
        ([0xFF, 0xD8, 0xFF], .init("JPEG image", "jpg")),
        (Array("GIF87a".utf8), .init("GIF image", "gif")),
        (Array("GIF89a".utf8), .init("GIF image", "gif")),
        (Array("%PDF-".utf8), .init("PDF document", "pdf")),
        ([0x50, 0x4B, 0x03, 0x04], .init("ZIP archive", "zip")),
        ([0x1F, 0x8B], .init("gzip archive", "gz")),
        ([0x28, 0xB5, 0x2F, 0xFD], .init("Zstandard archive", "zst")),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .init("XZ archive", "xz")),
    ]

    private init(_ label: String, _ fileExtension: String) {
        self.init(label: label, fileExtension: fileExtension)
    }

    private init(label: String, fileExtension: String) {
        self.label = label
        self.fileExtension = fileExtension
    }

    /// - Parameter beginning: The first bytes of the content. At most 512 of them decide whether it is text.
    init(of beginning: Data) {
        if beginning.isEmpty {
            self = .empty
        } else if let known = Self.signatures.first(where: { beginning.starts(with: $0.bytes) }) {
            self = known.kind
        } else if beginning.starts(with: "RIFF".utf8), beginning.dropFirst(8).starts(with: "WEBP".utf8) {
            self.init("WebP image", "webp")
        } else {
            self = Self.isText(beginning.prefix(512)) ? .text : .data
        }
    }

    /// Whether the bytes are UTF-8 text. The final character may be incomplete.
    private static func isText(_ bytes: Data) -> Bool {
        guard !bytes.contains(where: { $0 < 0x20 && !(0x07...0x0D).contains($0) && $0 != 0x1B }) else { return false }
        return (0..<4).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }
}

/// Collects a text construct's content: characters, or elements that are serialized as markup again.
struct MarkupCapture: Sendable {
    /// The element's key.
    let key: String
    /// The element's media type, stated or detected.
    private(set) var type: String
    /// Whether the content is Base64-encoded.
    let isBase64: Bool
    let limit: Int
    private(set) var bytes: [UInt8] = []
    /// The number of elements in the captured content that are still open.
    private(set) var depth = 0
    /// Whether content was dropped because ``bytes`` had reached ``limit``.
    private(set) var isCut = false
    private var isMarkup: Bool

    init(key: String, type: String, isBase64: Bool, limit: Int) {
        self.key = key
        self.type = type
        self.isBase64 = isBase64
        self.limit = limit
        isMarkup = type.hasSuffix("xml") && !isBase64
    }

    /// Adds a piece of text to the captured content. If the content is markup, the text is escaped first.
    mutating func text(_ piece: [UInt8]) {
        guard bytes.count < limit else { return isCut = true }
        if isMarkup {
            HTMLText.escaped(piece, into: &bytes)
        } else {
            bytes += piece
        }
    }

    /// Processes a start tag.
    mutating func open(_ name: XMLName, _ attributes: [XMLAttribute]) {
        depth += 1
        if !isMarkup {
            // The captured text has escaped markup. Some programs put such text into one `div`, which is not part of
            // the text. So skip the `div` tag.
            if name.local == "div" { return }
            becomeMarkup()
        }
        guard bytes.count < limit else { return isCut = true }
        bytes.append(0x3C)
        bytes += name.local.utf8
        for attribute in attributes {
            guard let written = Self.name(attribute.name) else { continue }
            bytes.append(0x20)
            bytes += written.utf8
            bytes.append(0x3D)
            bytes.append(0x22)
            HTMLText.escaped(Array(attribute.value.utf8), into: &bytes, isValue: true)
            bytes.append(0x22)
        }
        if name.local == "math", name.namespace == FeedNamespaces.mathML {
            bytes += Array(" xmlns=\"\(FeedNamespaces.mathML)\"".utf8)
        }
        bytes.append(0x3E)
    }

    /// Processes an end tag.
    mutating func close(_ name: XMLName) {
        depth -= 1
        guard isMarkup, bytes.count < limit else { return }
        bytes.append(0x3C)
        bytes.append(0x2F)
        bytes += name.local.utf8
        bytes.append(0x3E)
    }

    private mutating func becomeMarkup() {
        isMarkup = true
        type = "application/xhtml+xml"
        let text = bytes
        bytes = []
        HTMLText.escaped(text, into: &bytes)
    }

    private static func name(_ name: XMLName) -> String? {
        // An attribute without a prefix has no namespace (Namespaces in XML §6.2).
        if name.prefix.isEmpty { return name.local == "xmlns" ? nil : name.local }
        let known = name.namespace.isEmpty ? nil : FeedNamespaces.prefix(name.namespace)
        let prefix = known ?? XMLCharacters.lowercased(name.prefix)
        return prefix == "xlink" || prefix == "xml" ? prefix + ":" + name.local : nil
    }
}

internal import CausewayXML

/// Builds a feed from the events of a document.
///
/// Elements are known by their namespaces, so that every prefix works. Text constructs are captured whole; other elements are leaves whose
/// text becomes a property, or containers.
struct FeedBuilder: Sendable {
    /// An open element.
    struct Frame: Sendable {
        let key: String
        let attributes: FeedAttributes
        let base: String?
        let language: String?
        var text: [UInt8] = []
    }

    /// What is known about the item that is open, besides its properties.
    struct Progress: Sendable {
        var shape = ShapeReader()
        /// The key of the element that the summary is from.
        var summaryKey: String?
        /// Whether a list of chapters was read.
        var hasChapters = false
    }

    /// What the properties of the current element belong to.
    enum Context: Equatable, Sendable {
        case feed, item, source
    }

    let limits: FeedLimits
    var feed = Feed()
    var item: FeedItem?
    var source: Feed?
    var frames: [Frame] = []
    var capture: MarkupCapture?
    /// The person whose element is open.
    var person: FeedPerson?
    /// The picture whose element is open.
    var image: FeedImage?
    /// What is known about the item that is open.
    var progress = Progress()
    /// Bytes of texts that are kept.
    private(set) var keptByteCount = 0
    /// The position in the document.
    private(set) var place = XMLPlace()
    private let document: FeedSource

    init(limits: FeedLimits, document: FeedSource) {
        self.limits = limits
        self.document = document
        feed.language = document.language
    }

    /// The base of the current element.
    var base: String? { frames.last?.base ?? document.base }

    /// The language of the current element.
    var language: String? { frames.isEmpty ? document.language : frames.last?.language }

    /// What the properties of the current element belong to.
    var context: Context { source != nil ? .source : item != nil ? .item : .feed }

    /// The element around the current one.
    var parent: String { frames.dropLast().last?.key ?? "" }

    /// Whether the limits permit no more texts.
    var isFull: Bool { keptByteCount > limits.totalByteCount || feed.items.count >= limits.items }

    /// Takes the next part of the document.
    mutating func take(_ event: XMLEvent, at place: XMLPlace) {
        self.place = place
        switch event {
        case .startElement(let name, let attributes): open(name, attributes)
        case .text(let bytes): text(bytes)
        case .endElement(let name): close(name)
        }
    }

    private mutating func open(_ name: XMLName, _ attributes: [XMLAttribute]) {
        if capture != nil {
            capture?.open(name, attributes)
            return
        }
        let key = limits.tagMap[name.qualified] ?? FeedNamespaces.key(name)
        let attributes = FeedAttributes(attributes)
        frames.append(
            Frame(key: key, attributes: attributes, base: newBase(attributes), language: newLanguage(attributes)))
        begin(key, attributes, name: name)
    }

    private func newBase(_ attributes: FeedAttributes) -> String? {
        guard let written = attributes["xml_base"], written.utf8.count <= 2048, Reference.isSafe(written) else {
            return base
        }
        let resolved = Reference.resolve(written, base: base)
        return resolved.utf8.count > 4096 ? base : resolved
    }

    private func newLanguage(_ attributes: FeedAttributes) -> String? {
        guard let written = attributes.raw("xml_lang") ?? attributes.raw("lang") else { return language }
        let tag = XMLCharacters.trimmed(written)
        return tag.isEmpty ? nil : tag.replacing("_", with: "-")
    }

    private mutating func text(_ bytes: [UInt8]) {
        if capture != nil {
            capture?.text(bytes)
        } else if !frames.isEmpty, frames[frames.count - 1].text.count < limits.titleByteCount {
            frames[frames.count - 1].text += bytes
        }
    }

    private mutating func close(_ name: XMLName) {
        if let open = capture, open.depth > 0 {
            capture?.close(name)
            return
        }
        guard let frame = frames.last else { return }
        if let captured = capture {
            capture = nil
            end(captured, frame)
        } else {
            end(frame)
        }
        frames.removeLast()
    }

    /// Counts a text that is kept, and returns whether it may be.
    mutating func keep(_ byteCount: Int) -> Bool {
        guard keptByteCount <= limits.totalByteCount else { return false }
        keptByteCount += byteCount
        return true
    }

    /// Returns a reference as an absolute one, without an unsafe scheme.
    func resolve(_ reference: String) -> String {
        Reference.isSafe(reference) ? Reference.resolve(reference, base: base) : ""
    }

    /// Changes the properties of the feed, item or source that is open.
    mutating func change(_ body: (inout FeedCore) -> Void) {
        switch context {
        case .feed: body(&feed.core)
        case .item: if item != nil { body(&item!.core) }
        case .source: if source != nil { body(&source!.core) }
        }
    }

    /// Changes the feed or source that is open.
    mutating func changeFeed(_ body: (inout Feed) -> Void) {
        if source != nil { body(&source!) } else { body(&feed) }
    }

    /// Whether the current element is a child of the feed or item itself, and not of a part of it that is not known.
    var isDirect: Bool {
        switch parent {
        case "", "channel", "feed", "item", "entry", "source", "rss", "rdf_rdf", "media_group", "media_content": true
        default: false
        }
    }
}

/// Builds a feed from a document's XML events.
///
/// The builder identifies elements by their namespace, so a feed may use any prefix. It stores a text construct, such
/// as a title or a summary, with its markup. Any other element contains either elements or only text. The text of such
/// an element becomes a property of the feed or the item.
struct FeedBuilder: Sendable {
    /// An element whose end tag has not been read yet.
    struct Frame: Sendable {
        let key: String
        let roles: FeedElementRoles
        let attributes: FeedAttributes
        let base: String?
        let language: String?
        /// Where the element is: in a text input, in a list of chapters, or in neither.
        let surroundings: Surroundings
        var text: [UInt8] = []
    }

    /// Whether the current element is in a text input or in a chapter list. There, the same element has another
    /// meaning.
    struct Surroundings: Sendable {
        var isInTextInput = false
        var isInChapters = false
    }

    /// Counters that enforce the limits.
    struct Budget: Sendable {
        /// The number of bytes that attributes and text in open elements may still use.
        var openByteCount = 2 * 1024 * 1024
        /// The remaining budget for HTML tags, attributes and other costly parts of texts (``FeedLimits/markup``).
        var markup: Int
        /// The number of bytes of text that were stored so far.
        var keptByteCount = 0
        /// The limit that the feed exceeded; `nil` if none. After that, the builder reads nothing more.
        var excess: FeedProblem?
    }

    /// The parse state for the open item, besides its properties.
    struct Progress: Sendable {
        var shape = ShapeReader()
        /// The key of the element from which the item's summary was read: its name with the usual prefix, if any. If
        /// the item has a second such element, its text can be the full content.
        var summaryKey: String?
        /// Whether a chapter list was read.
        var hasChapters = false
    }

    /// The kind of object to which the current element belongs. The element's properties are stored in this object.
    enum Context: Equatable, Sendable {
        case feed, item, source
    }

    /// Flags for the objects whose elements are open: an item, its source, a person, an image and captured text. A test
    /// of a flag is faster than a test of the object.
    struct Parts: OptionSet, Sendable {
        let rawValue: UInt8

        static let item = Parts(rawValue: 1)
        static let source = Parts(rawValue: 2)
        static let person = Parts(rawValue: 4)
        static let image = Parts(rawValue: 8)
        static let capture = Parts(rawValue: 16)
    }

    /// The position in the document, the flags for the open objects, and the cached element keys.
    private struct Position: Sendable {
        var place = XMLPlace()
        var parts: Parts = []
        var keys = FeedKeys()
    }

    let limits: FeedLimits
    var feed = Feed()
    var item: FeedItem?
    var source: Feed?
    var frames: [Frame] = []
    var capture: MarkupCapture?
    /// The open person element.
    var person: FeedPerson?
    /// The open image element.
    var image: FeedImage?
    /// The parse state for the open item.
    var progress = Progress()
    /// Counters of the work done, which enforce the limits.
    var budget: Budget
    private var position = Position()
    private let document: FeedSource

    init(limits: FeedLimits, document: FeedSource) {
        self.limits = limits
        self.document = document
        budget = Budget(markup: limits.markup)
        feed.language = document.language
    }

    /// Flags for the objects that are open now, such as an item or its source.
    var parts: Parts {
        get { position.parts }
        set { position.parts = newValue }
    }

    /// The current position in the document.
    var place: XMLPlace { position.place }

    /// The current element's base URL.
    var base: String? { frames.last?.base ?? document.base }

    /// The current element's language.
    var language: String? { frames.isEmpty ? document.language : frames.last?.language }

    /// The object to which properties of the current element belong: the feed, an item or an item's source.
    var context: Context { parts.contains(.source) ? .source : parts.contains(.item) ? .item : .feed }

    /// The key of the current element's parent.
    var parent: String { frames.dropLast().last?.key ?? "" }

    /// Records the exceeded limit. The rest of the document is not read.
    mutating func exceed(_ message: String) {
        guard budget.excess == nil else { return }
        budget.excess = FeedProblem(
            line: place.line, column: place.column, message: "\(message); the rest of the document is not read")
    }

    /// Processes the document's next event.
    mutating func take(_ event: XMLEvent, at place: XMLPlace) {
        position.place = place
        switch event {
        case .startElement(let name, let attributes): open(name, attributes)
        case .text(let bytes): text(bytes)
        case .endElement(let name): close(name)
        }
    }

    private mutating func open(_ name: XMLName, _ attributes: [XMLAttribute]) {
        if parts.contains(.capture) {
            capture?.open(name, attributes)
            return
        }
        let written = limits.tagMap.isEmpty ? nil : limits.tagMap[name.qualified]
        let key = written ?? position.keys.key(name)
        let roles = FeedElementRoles(key)
        let attributes = FeedAttributes(attributes, &position.keys, maximumByteCount: budget.openByteCount)
        budget.openByteCount -= attributes.byteCount
        // Long attributes also count toward the budget for costly content, because the parser reads every byte of a
        // long reference several times.
        if attributes.byteCount > 1024 { _ = spend(attributes.byteCount / 32) }
        var surroundings = frames.last?.surroundings ?? Surroundings()
        if key == "textinput" { surroundings.isInTextInput = true }
        if key == "psc_chapters" { surroundings.isInChapters = true }
        frames.append(
            Frame(
                key: key, roles: roles, attributes: attributes, base: newBase(attributes),
                language: newLanguage(attributes),
                surroundings: surroundings))
        begin(key, roles, attributes, name: name)
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
        let tag = XMLCharacters.trimmed(Array(written.utf8.prefix(Self.languageByteCount))[...])
        return tag.isEmpty ? nil : String(decoding: tag.map { $0 == 0x5F ? 0x2D : $0 }, as: UTF8.self)
    }

    /// Maximum language tag length in bytes. RFC 5646 §4.4.1 requires at least 35.
    static let languageByteCount = 64

    private mutating func text(_ bytes: [UInt8]) {
        if parts.contains(.capture) {
            capture?.text(bytes)
        } else if !frames.isEmpty, frames[frames.count - 1].text.count < limits.titleByteCount,
            budget.openByteCount > 0
        {
            budget.openByteCount -= bytes.count
            frames[frames.count - 1].text += bytes
        }
    }

    private mutating func close(_ name: XMLName) {
        if parts.contains(.capture), let depth = capture?.depth, depth > 0 {
            capture?.close(name)
            return
        }
        guard let frame = frames.last else { return }
        if parts.contains(.capture), let captured = capture {
            capture = nil
            parts.remove(.capture)
            end(captured, frame)
        } else {
            end(frame)
        }
        if let ended = frames.popLast() { budget.openByteCount += ended.attributes.byteCount + ended.text.count }
    }

    /// Subtracts `parts` units from the budget for costly content (``FeedLimits/markup``). Such content takes more time
    /// than its size suggests. Returns `false` if the budget is used up.
    mutating func spend(_ parts: Int) -> Bool {
        budget.markup -= parts
        if budget.markup <= 0 { exceed("more than \(limits.markup) tags, attributes and other parts in texts") }
        return budget.markup > 0
    }

    /// Adds the byte count of a text to the number of stored bytes. If the earlier texts already exceed
    /// ``FeedLimits/totalByteCount``, it counts nothing and returns `false`.
    mutating func keep(_ byteCount: Int) -> Bool {
        guard budget.keptByteCount <= limits.totalByteCount else {
            exceed("more than \(limits.totalByteCount) bytes of text")
            return false
        }
        budget.keptByteCount += byteCount
        return true
    }

    /// Resolves a reference against the base URL; empty if its scheme is unsafe. The XML reader has decoded it, so "&"
    /// begins no character reference.
    func resolve(_ reference: String) -> String {
        Reference.isSafe(reference) ? Reference.resolve(reference, base: base) : ""
    }

    /// Changes the properties that feeds, items and sources share, in the element that is open now.
    mutating func change(_ body: (inout FeedCore) -> Void) {
        switch context {
        case .feed: body(&feed.core)
        case .item: body(&item!.core)
        case .source: body(&source!.core)
        }
    }

    /// Calls `body` with the object to change. This is the open source element, or the feed if no source element is
    /// open.
    mutating func changeFeed(_ body: (inout Feed) -> Void) {
        if parts.contains(.source) { body(&source!) } else { body(&feed) }
    }

    /// Whether the current element is a direct child of the feed or item, and not nested in an unknown element.
    var isDirect: Bool {
        switch parent {
        case "", "channel", "feed", "item", "entry", "source", "rss", "rdf_rdf", "media_group", "media_content": true
        default: false
        }
    }
}

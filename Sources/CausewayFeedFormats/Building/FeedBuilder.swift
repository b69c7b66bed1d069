internal import CausewayXML

/// Builds a feed from the events of a document.
///
/// Elements are known by their namespaces, so that every prefix works. Text constructs are captured whole; other elements are leaves whose
/// text becomes a property, or containers.
struct FeedBuilder: Sendable {
    /// An open element.
    struct Frame: Sendable {
        let key: String
        let roles: FeedElementRoles
        let attributes: FeedAttributes
        let base: String?
        let language: String?
        /// Whether the element is in a text input or in a list of chapters.
        let surroundings: Surroundings
        var text: [UInt8] = []
    }

    /// What surrounds an element at any distance.
    struct Surroundings: Sendable {
        var isInTextInput = false
        var isInChapters = false
    }

    /// What the limits have left.
    struct Budget: Sendable {
        /// Bytes of the attributes and texts of open elements.
        var openByteCount = 2 * 1024 * 1024
        /// Tags and attributes of HTML in texts.
        var markup: Int
        /// Bytes of texts that are kept.
        var keptByteCount = 0
        /// The limit that ends the feed.
        var excess: FeedProblem?
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

    /// Parts that are open. The flags are cheaper to ask for than the parts, which are large.
    struct Parts: OptionSet, Sendable {
        let rawValue: UInt8

        static let item = Parts(rawValue: 1)
        static let source = Parts(rawValue: 2)
        static let person = Parts(rawValue: 4)
        static let image = Parts(rawValue: 8)
        static let capture = Parts(rawValue: 16)
    }

    /// What is being read.
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
    /// The person whose element is open.
    var person: FeedPerson?
    /// The picture whose element is open.
    var image: FeedImage?
    /// What is known about the item that is open.
    var progress = Progress()
    /// What the limits have left.
    var budget: Budget
    private var position = Position()
    private let document: FeedSource

    init(limits: FeedLimits, document: FeedSource) {
        self.limits = limits
        self.document = document
        budget = Budget(markup: limits.markup)
        feed.language = document.language
    }

    /// The parts that are open.
    var parts: Parts {
        get { position.parts }
        set { position.parts = newValue }
    }

    /// The position in the document.
    var place: XMLPlace { position.place }

    /// The base of the current element.
    var base: String? { frames.last?.base ?? document.base }

    /// The language of the current element.
    var language: String? { frames.isEmpty ? document.language : frames.last?.language }

    /// What the properties of the current element belong to.
    var context: Context { parts.contains(.source) ? .source : parts.contains(.item) ? .item : .feed }

    /// The element around the current one.
    var parent: String { frames.dropLast().last?.key ?? "" }

    /// Notes the limit that ends the feed. What follows would be dropped.
    mutating func exceed(_ message: String) {
        guard budget.excess == nil else { return }
        budget.excess = FeedProblem(
            line: place.line, column: place.column, message: "\(message); the rest of the document is not read")
    }

    /// Takes the next part of the document.
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
        // Each byte of a long reference is read several times.
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

    /// The bytes of the longest language tag (RFC 5646 §4.4.1 needs 35).
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

    /// Counts parts of a text that cost more than their bytes. Returns false if no more may be read.
    mutating func spend(_ parts: Int) -> Bool {
        budget.markup -= parts
        if budget.markup <= 0 { exceed("more than \(limits.markup) tags, attributes and other parts in texts") }
        return budget.markup > 0
    }

    /// Counts a text that is kept, and returns whether it may be.
    mutating func keep(_ byteCount: Int) -> Bool {
        guard budget.keptByteCount <= limits.totalByteCount else {
            exceed("more than \(limits.totalByteCount) bytes of text")
            return false
        }
        budget.keptByteCount += byteCount
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
        case .item: body(&item!.core)
        case .source: body(&source!.core)
        }
    }

    /// Changes the feed or source that is open.
    mutating func changeFeed(_ body: (inout Feed) -> Void) {
        if parts.contains(.source) { body(&source!) } else { body(&feed) }
    }

    /// Whether the current element is a child of the feed or item itself, and not of a part of it that is not known.
    var isDirect: Bool {
        switch parent {
        case "", "channel", "feed", "item", "entry", "source", "rss", "rdf_rdf", "media_group", "media_content": true
        default: false
        }
    }
}

public import FoundationEssentials

/// Parses a feed document in pieces.
///
/// ```swift
/// var parser = FeedParser(source: FeedSource(base: "https://example.com/feed.xml"))
/// for piece in pieces { parser.append(piece) }
/// let feed = try parser.finish()
/// ```
///
/// Recognizes RSS 0.90 to 2.0, RSS 1.0 (RDF), Atom 0.3 and 1.0, CDF and JSON Feed. Malformed documents are read as far
/// as possible, and ``Feed/problems`` lists the violations with their positions. ``FeedLimits`` bounds the memory. The
/// parser performs no I/O and never reads external entities.
public struct FeedParser {
    private enum Kind { case undecided, xml, json }

    private let limits: FeedLimits
    private let source: FeedSource
    private var decoder: CharacterDecoder
    private var reader: XMLReader
    private var builder: FeedBuilder
    private var kind = Kind.undecided
    private var json: [UInt8] = []
    private var isTooLarge = false

    /// Number of bytes to decode at a time.
    private static let sliceByteCount = 16 * 1024

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - source: The document's address and response header fields.
    ///   - limits: Limits for the document's cost.
    public init(source: FeedSource = FeedSource(), limits: FeedLimits = FeedLimits()) {
        self.limits = limits
        self.source = source
        var bounds = XMLLimits()
        bounds.markup = limits.markup
        reader = XMLReader(limits: bounds)
        decoder = CharacterDecoder(charset: source.charset) { EncodingConversion($0) }
        builder = FeedBuilder(limits: limits, document: source)
    }

    /// All items that are complete so far. They remain available if the rest of the document is malformed or missing.
    public var items: [FeedItem] { builder.feed.items }

    /// Parses the next piece of the document.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        var slice: [UInt8] = []
        slice.reserveCapacity(Self.sliceByteCount)
        for byte in bytes {
            slice.append(byte)
            if slice.count == Self.sliceByteCount {
                appendSlice(slice)
                slice.removeAll(keepingCapacity: true)
            }
        }
        if !slice.isEmpty { appendSlice(slice) }
    }

    /// Parses the next piece of the document.
    public mutating func append(_ bytes: [UInt8]) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Self.sliceByteCount)
            appendSlice(Array(bytes[start..<end]))
            start = end
        }
    }

    /// Parses the next piece of the document.
    public mutating func append(_ data: Data) {
        var rest = data[...]
        while !rest.isEmpty {
            appendSlice(Array(rest.prefix(Self.sliceByteCount)))
            rest = rest.dropFirst(Self.sliceByteCount)
        }
    }

    /// Whether parsing ended at a limit. Later bytes are ignored, so a caller can stop fetching.
    public var hasReachedLimit: Bool {
        reader.isEnded || builder.budget.excess != nil || decoder.isExhausted || isTooLarge
    }

    /// The document's processing cost so far. Each unit of this cost takes about the same time. Bytes that take much
    /// less time than one unit are not counted.
    package var cost: Int { reader.work.stepCount + reader.work.markupCount + limits.markup - builder.budget.markup }

    private mutating func appendSlice(_ bytes: [UInt8]) {
        guard !hasReachedLimit else { return }
        var text: [UInt8] = []
        decoder.decode(bytes, into: &text)
        read(text)
    }

    private mutating func read(_ text: [UInt8]) {
        if kind == .undecided {
            // Pass white space before the document to the XML reader too, because it affects the positions that the
            // reader reports.
            guard let first = text.first(where: { !XMLCharacters.isSpace($0) }) else {
                return reader.read(text) { builder.take($0, at: $1) }
            }
            kind = first == 0x7B ? .json : .xml
        }
        if kind == .json {
            if json.count + text.count > limits.jsonByteCount { isTooLarge = true } else { json += text }
        } else {
            reader.read(text) { builder.take($0, at: $1) }
        }
    }

    /// Finishes the document.
    ///
    /// - Returns: The feed.
    /// - Throws: ``FeedError`` if the document is empty, not a feed, or too large.
    public mutating func finish() throws(FeedError) -> Feed {
        var text: [UInt8] = []
        if !hasReachedLimit {
            decoder.finish(into: &text)
            read(text)
        }
        var feed: Feed
        switch kind {
        case .undecided: throw FeedError(.empty, "the document is empty")
        case .json: feed = try finishJSON()
        case .xml: feed = try finishXML()
        }
        feed.encoding = decoder.name
        if let type = source.mediaType, !Self.isFeed(type) {
            note("the media type of the response is \(type)", in: &feed)
        }
        return feed
    }

    private func note(_ message: String, in feed: inout Feed) {
        feed.problems.append(FeedProblem(line: 1, column: 1, message: message))
    }

    private static func isFeed(_ type: String) -> Bool {
        let type = XMLCharacters.lowercased(type)
        return type.contains("xml") || type.contains("json") || type.contains("rdf")
    }

    private mutating func finishXML() throws(FeedError) -> Feed {
        if builder.budget.excess == nil { reader.finish { builder.take($0, at: $1) } }
        builder.endItem()
        var feed = builder.feed
        if feed.format == .rss091, Self.isNetscape(reader.documentType ?? "") { feed.format = .rss091Netscape }
        if let excess = builder.budget.excess { feed.problems.append(excess) }
        feed.problems =
            reader.problems.map { FeedProblem(line: $0.place.line, column: $0.place.column, message: $0.message) }
            + feed.problems
        noteEncoding(in: &feed)
        guard feed.format != .unknown else {
            throw FeedError(.notAFeed, "the document is no feed", problems: feed.problems)
        }
        return feed
    }

    /// Whether a document type declaration has the public or the system identifier of Netscape's RSS 0.91.
    private static func isNetscape(_ declaration: String) -> Bool {
        declaration.contains("-//Netscape Communications//DTD RSS 0.91//EN")
            || declaration.contains("http://my.netscape.com/publish/formats/rss-0.91.dtd")
    }

    private func noteEncoding(in feed: inout Feed) {
        if let name = decoder.unknownName { note("encoding \(name) is not known", in: &feed) }
        if decoder.isExhausted { note("too many malformed bytes; the rest of the document is not read", in: &feed) }
        let name = decoder.name ?? "utf-8"
        let isGuessed = decoder.isMalformed && name == "windows-1252"
        if let wrong = decoder.wrongName, !isGuessed {
            note("the document is in encoding \(name), not in \(wrong)", in: &feed)
        }
        if decoder.isMalformed {
            note("bytes that are malformed in encoding \(isGuessed ? decoder.wrongName ?? name : name)", in: &feed)
        }
    }

    private mutating func finishJSON() throws(FeedError) -> Feed {
        guard !isTooLarge else {
            throw FeedError(.tooLarge, "the document has more than \(limits.jsonByteCount) bytes")
        }
        var reader = JSONReader(json, textByteCount: limits.textByteCount)
        let value = reader.read()
        var problems: [FeedProblem] = []
        if let (offset, message) = reader.problem {
            let start = json[..<offset].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            let line = json[..<start].count { $0 == 0x0A } + 1
            problems = [FeedProblem(line: line, column: offset - start + 1, message: message)]
        }
        self.json = []
        var json = JSONFeed(source: source, limits: limits)
        guard var feed = json.feed(value) else {
            throw FeedError(.notAFeed, "the document is no feed", problems: problems)
        }
        feed.problems = problems
        noteEncoding(in: &feed)
        return feed
    }
}

extension Feed {
    /// Parses a whole document. See ``FeedParser``.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - source: The document's address and response header fields.
    ///   - limits: Limits for the document's cost.
    /// - Throws: ``FeedError`` if the document is empty, not a feed, or too large.
    public init(parsing data: Data, source: FeedSource = FeedSource(), limits: FeedLimits = FeedLimits())
        throws(FeedError)
    {
        var parser = FeedParser(source: source, limits: limits)
        parser.append(data)
        self = try parser.finish()
    }
}

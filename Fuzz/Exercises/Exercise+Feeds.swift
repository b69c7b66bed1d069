internal import CausewayMarkup

extension Exercise {
    /// Parses bytes as a feed, once as a whole and once in pieces. Checks that both results are equal, that texts have
    /// a limited size, and that no script remains in them.
    ///
    /// - Returns: Whether the bytes are a feed.
    @discardableResult
    public static func feed(_ bytes: [UInt8]) -> Bool {
        var choices = Choices(bytes)
        let charsets = [nil, "utf-8", "windows-1251", "shift_jis", "euc-kr", "gb2312", "iso-2022-jp", "nothing"]
        let source = FeedSource(base: "http://a.example/b/c", charset: charsets[choices.next(below: charsets.count)])
        let size = 1 + choices.next(below: 40)
        let document = Array(choices.rest)
        let whole = parse([document], source)
        let pieces = parse(
            stride(from: 0, to: document.count, by: size).map { Array(document[$0..<min(document.count, $0 + size)]) },
            source)
        precondition(whole == pieces, "pieces make a difference")
        guard let whole else { return false }
        precondition(whole.problems.count < 128, "problems")
        for item in whole.items { check(item) }
        return true
    }

    private static func parse(_ pieces: [[UInt8]], _ source: FeedSource) -> Feed? {
        var limits = FeedLimits()
        limits.items = 64
        var parser = FeedParser(source: source, limits: limits)
        for piece in pieces { parser.append(piece) }
        return try? parser.finish()
    }

    private static func check(_ item: FeedItem) {
        for text in item.contents + [item.summary, item.title].compactMap({ $0 }) {
            precondition(text.value.utf8.count <= 512 * 1024, "length")
            _ = text.plainText.utf8.count
            guard text.isHTML else { continue }
            let lower = text.value.lowercased()
            precondition(!lower.contains("<script") && !lower.contains("javascript:alert"), "script")
        }
        _ = (
            item.dates.best, item.podcast.seconds, item.place?.positions.count, item.identity.utf8.count,
            item.enclosures.map(\.url)
        )
        for chapter in item.chapters { _ = chapter.offset }
    }

    /// Parses bytes as XML and as HTML. Checks that start and end tags match, and that cleaning does not change HTML
    /// that is already clean.
    public static func markup(_ bytes: [UInt8]) {
        var open: [XMLName] = []
        var reader = XMLReader()
        let handler: XMLReader.Handler = { event, _ in
            switch event {
            case .startElement(let name, _): open.append(name)
            case .endElement(let name): precondition(open.popLast() == name, "an end tag without its start")
            case .text: precondition(!open.isEmpty, "text outside of the root element")
            }
        }
        reader.read(bytes, handler)
        reader.finish(handler)
        precondition(open.isEmpty, "an element stays open")
        let text = String(decoding: bytes, as: UTF8.self)
        let clean = HTMLCleaner.clean(text, base: "http://a.example/b/c")
        precondition(clean.utf8.count <= 6 * text.utf8.count + 8192, "length")
        precondition(
            HTMLCleaner.clean(clean, base: nil).utf8.count <= clean.utf8.count, "cleaned HTML has unsafe parts")
        _ = (HTMLText.plain(text).utf8.count, HTMLText.looksLikeHTML(text), FeedDate(text).date)
        _ = Reference.resolve(text, base: "http://a.example/b/c?d#e")
    }
}

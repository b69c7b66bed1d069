extension HTMLRules {
    /// All categories of an element, in one value, so that one table lookup per tag finds them.
    struct Kind: OptionSet, Sendable {
        let rawValue: UInt32

        static let known = Kind(rawValue: 1)
        static let void = Kind(rawValue: 1 << 1)
        /// The element is removed with its content.
        static let dropped = Kind(rawValue: 1 << 2)
        /// The element's tags are removed, and its content is kept.
        static let unwrapped = Kind(rawValue: 1 << 3)
        /// The element does not separate words.
        static let inline = Kind(rawValue: 1 << 4)
        /// The element's start tag ends SVG and MathML (WHATWG HTML §13.2.6.5).
        static let endsForeign = Kind(rawValue: 1 << 5)
        /// The element's start tag ends an open paragraph.
        static let endsParagraph = Kind(rawValue: 1 << 6)
        /// The element goes on when an element around it ends (WHATWG HTML §13.2.4.3).
        static let formatting = Kind(rawValue: 1 << 7)
        /// The element keeps end tags of most inline elements from ending elements around it (WHATWG HTML §13.2.4.2).
        static let special = Kind(rawValue: 1 << 8)
        /// The element keeps the start tags of list items from ending items around it.
        static let itemBoundary = Kind(rawValue: 1 << 9)
        /// The element's end tag also ends special elements in it.
        static let block = Kind(rawValue: 1 << 10)

        static let paragraph = Kind(rawValue: 1 << 11)
        static let heading = Kind(rawValue: 1 << 12)
        static let item = Kind(rawValue: 1 << 13)
        static let list = Kind(rawValue: 1 << 14)
        static let term = Kind(rawValue: 1 << 15)
        static let select = Kind(rawValue: 1 << 16)
        static let option = Kind(rawValue: 1 << 17)
        static let optionGroup = Kind(rawValue: 1 << 18)
        static let button = Kind(rawValue: 1 << 19)
        static let link = Kind(rawValue: 1 << 20)
        static let form = Kind(rawValue: 1 << 21)
        static let table = Kind(rawValue: 1 << 22)
        static let caption = Kind(rawValue: 1 << 23)
        static let columnGroup = Kind(rawValue: 1 << 24)
        static let rowGroup = Kind(rawValue: 1 << 25)
        static let row = Kind(rawValue: 1 << 26)
        static let cell = Kind(rawValue: 1 << 27)

        /// Elements that browsers end with the element around them, also for the end tag of a form.
        static let implied: Kind = [.paragraph, .item, .term, .option, .optionGroup]
        /// A table's parts.
        static let tableParts: Kind = [.caption, .columnGroup, .rowGroup, .row, .cell]
    }

    /// The open element that a start tag ends.
    struct Ending: Sendable {
        /// The kinds of the start tag.
        let starts: Kind
        /// The start tag ends the innermost open element of these kinds.
        let ended: Kind
        /// An open element of these kinds keeps elements around it open.
        let boundary: Kind
    }

    /// Returns an element's categories by name.
    static func kind(_ name: String) -> Kind { kinds[name] ?? [] }

    /// What start tags end (WHATWG HTML §13.2.6.4.7, §13.2.6.4.9). With the boundary `known`, only the innermost open
    /// element can be ended.
    static let endings = [
        Ending(starts: .item, ended: .item, boundary: .itemBoundary),
        Ending(starts: .term, ended: .term, boundary: .itemBoundary),
        Ending(starts: .endsParagraph, ended: .paragraph, boundary: [.button, .table, .cell, .caption]),
        Ending(starts: .heading, ended: .heading, boundary: .known),
        Ending(starts: [.option, .optionGroup], ended: .option, boundary: .known),
        Ending(starts: .table, ended: .table, boundary: [.cell, .caption]),
        Ending(starts: .link, ended: .link, boundary: [.table, .cell, .caption]),
        Ending(starts: .button, ended: .button, boundary: [.table, .cell, .caption]),
    ]

    private static let kinds: [String: Kind] = {
        var kinds: [String: Kind] = [:]
        let sets: [(Set<String>, Kind)] = [
            (elements, .known), (voidElements, .void), (droppedElements, .dropped), (unwrappedElements, .unwrapped),
            (inlineElements, .inline), (foreignEnds, .endsForeign), (paragraphEnds, .endsParagraph),
            (formattingElements, .formatting), (specialElements, .special),
            (specialElements.filter { !["address", "div", "p"].contains($0) }, .itemBoundary), (blockElements, .block),
        ]
        for (names, kind) in sets { for name in names { kinds[name, default: []].insert(kind) } }
        for (names, kind) in groups { for name in set(names) { kinds[name, default: []].insert(kind) } }
        return kinds
    }()

    private static let groups: [(String, Kind)] = [
        ("p", .paragraph), ("h1 h2 h3 h4 h5 h6", .heading), ("li", .item), ("ul ol menu dir", .list), ("dt dd", .term),
        ("select", .select), ("option", .option), ("optgroup", .optionGroup), ("button", .button), ("a", .link),
        ("form", .form), ("table", .table), ("caption", .caption), ("colgroup", .columnGroup),
        ("tbody thead tfoot", .rowGroup), ("tr", .row), ("td th", .cell),
    ]

    private static let foreignEnds = set(
        """
        b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta \
        nobr ol p pre ruby s small span strong strike sub sup table tt u ul var
        """)

    private static let paragraphEnds = set(
        """
        address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 \
        h4 h5 h6 header hr li main menu nav ol p pre section summary table ul
        """)

    private static let formattingElements = set("a b big code em font i nobr s small strike strong tt u")

    private static let specialElements = set(
        """
        address article aside blockquote button caption center colgroup dd details dir div dl dt fieldset figcaption figure \
        footer form h1 h2 h3 h4 h5 h6 header li main menu nav ol p pre section select summary table tbody td textarea tfoot th \
        thead tr ul
        """)

    private static let blockElements = set(
        """
        address article aside blockquote button center details dialog dir div dl fieldset figcaption figure footer header main \
        menu nav ol pre section select summary ul
        """)
}

/// Parses filter keywords that apply only to certain link types: 802.11 frames and SS7 signals.
extension FilterParser {
    private typealias FrameControl = FilterLayout.FrameControl

    /// Parses `type`, `subtype` and `dir` with their values; `nil` if the next word is none of these keywords.
    mutating func wirelessFrame() throws(FilterError) -> FilterNode? {
        let first = token
        guard let word = word(), FilterKeywords.wireless.contains(word) else { return nil }
        guard layout.addresses == .wireless else {
            return try fail("'\(word)' requires IEEE 802.11, but the link type is \(layout.linkType.name)", at: first)
        }
        advance()
        switch word {
        case "type": return try frameType()
        case "subtype":
            guard case .word(let name, _) = token.kind, let known = FilterWirelessNames.subtype(name) else {
                return try expected("a subtype's name")
            }
            advance()
            return .equal(
                layout.linkHeader.load(1, 0), known.type | known.subtype,
                mask: FrameControl.typeMask | FrameControl.subtypeMask)
        default:
            let number = try nameOrNumber(
                FilterWirelessNames.directions, mask: FrameControl.distributionMask,
                "a direction: nods, tods, fromds or dstods")
            return .equal(layout.linkHeader.load(1, 1), number, mask: FrameControl.distributionMask)
        }
    }

    /// Parses a frame type. If the word `subtype` follows, also parses a subtype.
    private mutating func frameType() throws(FilterError) -> FilterNode {
        let type = try nameOrNumber(FilterWirelessNames.types, mask: FrameControl.typeMask, "a type: mgt, ctl or data")
        guard take(word: "subtype") else {
            return .equal(layout.linkHeader.load(1, 0), type, mask: FrameControl.typeMask)
        }
        let subtype = try nameOrNumber(
            FilterWirelessNames.subtypes[type] ?? [:], mask: FrameControl.subtypeMask, "a subtype of this type")
        return .equal(
            layout.linkHeader.load(1, 0), type | subtype, mask: FrameControl.typeMask | FrameControl.subtypeMask)
    }

    private mutating func nameOrNumber(
        _ names: [String: UInt32], mask: UInt32, _ what: String
    ) throws(FilterError) -> UInt32 {
        switch token.kind {
        case .number(let number):
            guard number & ~mask == 0 else {
                return try fail("\(number) is not \(what)")
            }
            advance()
            return number
        case .word(let name, _):
            guard let number = names[name] else { return try expected(what) }
            advance()
            return number
        default: return try expected(what)
        }
    }

    /// Parses an SS7 primitive: a signal unit type such as `fisu`, or a field and the values to compare it with.
    mutating func signal(_ word: String) throws(FilterError) -> FilterNode {
        let first = token
        advance()
        if let node = layout.signalUnit(word), FilterKeywords.signalUnits.contains(word) { return node }
        guard let (field, limit) = layout.signalField(word) else {
            return try fail("'\(word)' requires SS7, but the link type is \(layout.linkType.name)", at: first)
        }
        if take(symbol: "(") {
            var chain = FilterChain(try signalValue(field, limit))
            while isJoint() == .or {
                advance()
                let next = try signalValue(field, limit)
                try join(next, by: .or, to: &chain)
            }
            guard take(symbol: ")") else { return try expected("'or' or ')'") }
            return chain.node
        }
        return try signalValue(field, limit)
    }

    private mutating func signalValue(
        _ field: FilterExpression, _ limit: UInt32
    ) throws(FilterError) -> FilterNode {
        var comparison = "="
        if case .symbol(let symbol) = token.kind, ["=", "==", "!=", "<", ">", "<=", ">="].contains(symbol) {
            comparison = symbol
            advance()
        }
        guard case .number(let number) = token.kind else { return try expected("a number") }
        guard number <= limit else { return try fail("the value is out of range: the maximum is \(limit)") }
        advance()
        return Self.relation(field, comparison, .number(number))
    }
}

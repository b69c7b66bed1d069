/// Parses keywords with their own syntax.
extension FilterParser {
    /// Parses a keyword that is a complete filter; `nil` if `word` is not one.
    mutating func special(_ word: String) throws(FilterError) -> FilterNode? {
        let first = token
        if let link = FilterKeywords.unsupported[word] {
            return try fail("'\(word)' requires \(link), but the link type is \(layout.linkType.name)")
        }
        if FilterKeywords.wireless.contains(word) { return try wirelessFrame() }
        if FilterKeywords.signalUnits.contains(word) || FilterKeywords.signalFields.contains(word) {
            return try signal(word)
        }
        switch word {
        case "less", "greater":
            advance()
            let number = try literal()
            return word == "less"
                ? .not(.relation(.length, .greater, .number(number)))
                : .relation(.length, .greaterOrEqual, .number(number))
        case "byte":
            advance()
            return try byte()
        case "inbound", "outbound":
            advance()
            let layout = self.layout
            return try meaning(at: first) { () throws(FilterMeaningError) in try layout.bound(isIn: word == "inbound") }
        case "ifindex":
            advance()
            let (layout, index) = (self.layout, try literal())
            return try meaning(at: first) { () throws(FilterMeaningError) in try layout.interface(index) }
        case "llc":
            advance()
            var name: String?
            if case .word(let type, _) = token.kind, isJoint() == nil {
                name = type
                advance()
            }
            let layout = self.layout
            return try meaning(at: first) { () throws(FilterMeaningError) in try layout.llc(name) }
        case "vlan", "mpls", "pppoed", "pppoes", "geneve", "vxlan": return try layered(word, first)
        default: return nil
        }
    }

    private mutating func layered(_ word: String, _ first: FilterToken) throws(FilterError) -> FilterNode {
        advance()
        var number: UInt32?
        if word != "pppoed", case .number(let value) = token.kind, !isComputed(1) {
            number = value
            advance()
        }
        guard layout.link != .opaque else {
            return try fail("'\(word)' requires Ethernet, but the link type is \(layout.linkType.name)", at: first)
        }
        if word == "pppoed" { return layout.type(FilterPayload.pppoeDiscovery) }
        var layout = self.layout
        let node = try meaning(at: first) { () throws(FilterMeaningError) in
            switch word {
            case "vlan": try layout.vlan(number)
            case "mpls": try layout.mpls(number)
            case "pppoes": try layout.pppoe(number)
            default: try layout.overlay(isGeneve: word == "geneve", number)
            }
        }
        self.layout = layout
        return node
    }

    private func isComputed(_ distance: Int) -> Bool {
        guard case .symbol(let symbol) = peek(distance).kind else { return false }
        return !["&&", "||", ")"].contains(symbol)
    }

    mutating func literal() throws(FilterError) -> UInt32 {
        var parentheses = 0
        while take(symbol: "(") { parentheses += 1 }
        guard case .number(let number) = token.kind else { return try expected("a number") }
        advance()
        for _ in 0..<parentheses {
            guard take(symbol: ")") else { return try expected("')'") }
        }
        return number
    }

    /// Parses `byte N op V`: compares one packet byte.
    private mutating func byte() throws(FilterError) -> FilterNode {
        let offset = try literal()
        guard case .symbol(let symbol) = token.kind, ["=", "==", "<", ">", "&", "|"].contains(symbol) else {
            return try expected("'=', '<', '>', '&' or '|'")
        }
        advance()
        let place = token
        let value = try literal()
        guard value <= FilterLimit.byteValue else {
            return try fail("the byte value is out of range: the maximum is \(FilterLimit.byteValue)", at: place)
        }
        guard offset <= FilterLimit.byteOffset else {
            return try fail("byte \(offset) is out of range: the maximum is \(FilterLimit.byteOffset)", at: place)
        }
        let load = layout.linkHeader.load(1, Int(offset))
        switch symbol {
        case "<": return .not(.test(load, mask: .max, .greaterOrEqual, value))
        case ">": return .test(load, mask: .max, .greater, value)
        case "&": return .not(.equal(load, 0, mask: value))
        case "|":
            return .not(
                .relation(
                    .binary(
                        .load(size: 1, offset: load.offset, place: load.place, index: .number(0)), .or, .number(value)),
                    .equal, .number(0)))
        default: return .equal(load, value)
        }
    }
}

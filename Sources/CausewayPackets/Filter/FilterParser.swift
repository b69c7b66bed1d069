/// Parses a filter expression for a link type.
struct FilterParser {
    let tokens: [FilterToken]
    var position = 0
    var layout: FilterLayout
    let settings: FilterSettings
    var depth = 0
    var nesting = 0
    /// The changes between "and" and "or" in the chains inside the current one: the largest number along one path
    /// through their trees.
    private var alternations = 0
    /// The number of arithmetic operators in the current comparison.
    var operations = 0
    /// Maximum nesting depth, to protect the stack.
    static let deepest = 100

    init(_ expression: String, _ layout: FilterLayout, _ settings: FilterSettings) throws(FilterError) {
        tokens = try FilterLexer.tokens(expression)
        self.layout = layout
        self.settings = settings
    }

    var token: FilterToken { tokens[position] }
    func peek(_ distance: Int = 1) -> FilterToken { tokens[min(position + distance, tokens.count - 1)] }
    mutating func advance() { if position < tokens.count - 1 { position += 1 } }

    func fail<T>(_ message: String, at token: FilterToken? = nil) throws(FilterError) -> T {
        throw FilterError(message, at: (token ?? self.token).position)
    }
    func expected<T>(_ what: String) throws(FilterError) -> T {
        try fail("\(what) was expected, not \(token.text)")
    }
    func meaning<T>(
        at token: FilterToken, _ body: () throws(FilterMeaningError) -> T
    ) throws(FilterError) -> T {
        do throws(FilterMeaningError) { return try body() } catch {
            throw FilterError(error.message, at: token.position)
        }
    }

    mutating func take(symbol: String) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        advance()
        return true
    }
    func word(_ distance: Int = 0) -> String? {
        if case .word(let word, escaped: false) = peek(distance).kind { return word }
        return nil
    }
    mutating func take(word: String) -> Bool {
        guard self.word() == word else { return false }
        advance()
        return true
    }
    func isJoint(_ distance: Int = 0) -> FilterJoint? {
        switch peek(distance).kind {
        case .symbol("&&"), .word("and", escaped: false): .and
        case .symbol("||"), .word("or", escaped: false): .or
        default: nil
        }
    }
    private func isNot(_ distance: Int = 0) -> Bool {
        peek(distance).kind == .symbol("!") || word(distance) == "not"
    }

    mutating func parse() throws(FilterError) -> FilterNode {
        if token.kind == .end { return .constant(true) }
        let (node, _) = try expression()
        guard token.kind == .end else { return try expected("'and', 'or' or the end") }
        return node
    }

    /// Parses "and" and "or", which have equal precedence and associate to the left.
    private mutating func expression() throws(FilterError) -> (FilterNode, FilterQualifiers?) {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.deepest else { return try fail("the expression is nested too deeply") }
        let outer = beginChain()
        let first = try term()
        var qualifiers = first.1
        var chain = FilterChain(first.0)
        while let joint = isJoint() {
            advance()
            let next: FilterNode
            if let last = qualifiers, beginsValue() {
                next = try value(last)
            } else {
                (next, qualifiers) = try term()
            }
            try join(next, by: joint, to: &chain)
        }
        end(chain, in: outer)
        return (chain.node, qualifiers)
    }

    /// Begins to parse a chain. Returns the number of changes for ``end(_:in:)``.
    mutating func beginChain() -> Int {
        defer { alternations = 0 }
        return alternations
    }

    /// Ends a chain inside an outer one. Chains side by side make the tree no deeper, so only the deepest one counts.
    mutating func end(_ chain: FilterChain, in outer: Int) {
        alternations = max(outer, alternations + chain.alternations)
    }

    /// Adds a node to a chain. Each change between "and" and "or" makes the tree deeper, so their number is limited.
    mutating func join(
        _ node: FilterNode, by joint: FilterJoint, to chain: inout FilterChain
    ) throws(FilterError) {
        chain.add(node, by: joint)
        guard alternations + chain.alternations <= FilterLimit.alternations else {
            return try fail("'and' and 'or' alternate too often: the maximum is \(FilterLimit.alternations) times")
        }
    }

    /// Whether a name or number comes next that inherits the earlier qualifiers. Any "not" and parentheses before it
    /// are skipped.
    private func beginsValue() -> Bool {
        var distance = 0
        while isNot(distance) || peek(distance).kind == .symbol("(") { distance += 1 }
        switch peek(distance).kind {
        case .word(let word, let escaped): return escaped || !FilterKeywords.all.contains(word)
        case .ipv4, .ipv6, .mac, .shortMAC: return true
        case .number:
            // If an operator follows the number, the number belongs to an arithmetic expression.
            if case .symbol(let symbol) = peek(distance + 1).kind { return [")", "&&", "||"].contains(symbol) }
            return true
        case .symbol, .end: return false
        }
    }

    /// Parses names and numbers with given qualifiers: a single name or number, a negation, or a group in parentheses.
    private mutating func value(_ qualifiers: FilterQualifiers) throws(FilterError) -> FilterNode {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.deepest else { return try fail("the expression is nested too deeply") }
        if isNot() {
            advance()
            return .not(try value(qualifiers))
        }
        guard take(symbol: "(") else { return try primitive(qualifiers) }
        let outer = beginChain()
        var chain = FilterChain(try value(qualifiers))
        while let joint = isJoint() {
            advance()
            let next = try value(qualifiers)
            try join(next, by: joint, to: &chain)
        }
        guard take(symbol: ")") else { return try expected("')'") }
        end(chain, in: outer)
        return chain.node
    }

    private mutating func term() throws(FilterError) -> (FilterNode, FilterQualifiers?) {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.deepest else { return try fail("the expression is nested too deeply") }
        if isNot() {
            advance()
            let (node, qualifiers) = try term()
            return (.not(node), qualifiers)
        }
        if token.kind == .symbol("(") {
            if let relation = try relationIfAny() { return (relation, nil) }
            advance()
            let result = try expression()
            guard take(symbol: ")") else { return try expected("')'") }
            return result
        }
        switch token.kind {
        case .number, .symbol("-"): return (try relation(), nil)
        case .word(let word, escaped: false): return try wordTerm(word)
        default: return try expected("a filter")
        }
    }

    private mutating func wordTerm(_ word: String) throws(FilterError) -> (FilterNode, FilterQualifiers?) {
        if FilterNames.constants[word] != nil || word == "len" || word == "length" { return (try relation(), nil) }
        if FilterProtocol.named(word) != nil, peek().kind == .symbol("[") { return (try relation(), nil) }
        if let node = try special(word) { return (node, nil) }
        return try qualified()
    }

    /// Parses a primitive that begins with a protocol, a direction or a kind.
    private mutating func qualified() throws(FilterError) -> (FilterNode, FilterQualifiers?) {
        let first = token
        if layout.link == .opaque, layout.addresses == .none { return try unknownLink(first) }
        var qualifiers = FilterQualifiers()
        if let word = word(), let proto = FilterProtocol.named(word) {
            qualifiers.proto = proto
            advance()
        }
        if qualifiers.proto == .link, let node = try wirelessFrame() { return (node, nil) }
        if let word = word(), word == "broadcast" || word == "multicast" {
            advance()
            let (layout, settings) = (self.layout, self.settings)
            return (
                try meaning(at: first) { () throws(FilterMeaningError) in
                    word == "broadcast"
                        ? try layout.broadcast(qualifiers, netmask: settings.netmask) : try layout.multicast(qualifiers)
                }, nil
            )
        }
        try direction(&qualifiers)
        if let word = word(), let kind = FilterAddressKind(rawValue: word) {
            let isDirected = qualifiers.direction != .unspecified
            if isDirected, kind == .proto || kind == .protochain || kind == .gateway {
                return try fail("'\(word)' has no direction")
            }
            qualifiers.kind = kind
            advance()
        }
        let isAddressed = qualifiers.direction != .unspecified || qualifiers.wireless != nil || qualifiers.kind != nil
        // If the link type's payload types are unknown, a primitive (a basic filter test) can test only hardware
        // addresses.
        if layout.link == .opaque, qualifiers.proto != .link || !isAddressed || qualifiers.kind == .proto {
            return try unknownLink(first)
        }
        if let proto = qualifiers.proto, !isAddressed {
            guard let node = layout.abbreviation(proto) else {
                return try fail(
                    "'\(first.text.dropFirst().dropLast())' is incomplete: expected 'host', 'proto' or an index after it",
                    at: first)
            }
            return (node, qualifiers)
        }
        guard isAddressed else { return try expected("a filter") }
        return (try primitive(qualifiers), qualifiers)
    }

    private func unknownLink<T>(_ first: FilterToken) throws(FilterError) -> T {
        try fail(
            "\(first.text) is not supported: with link type \(layout.linkType.name) only bytes (link[0]) and lengths are available",
            at: first)
    }

    private mutating func direction(_ qualifiers: inout FilterQualifiers) throws(FilterError) {
        guard let first = word() else { return }
        if FilterKeywords.wirelessDirections.contains(first) {
            guard layout.addresses == .wireless else {
                return try fail("'\(first)' requires IEEE 802.11, but the link type is \(layout.linkType.name)")
            }
            qualifiers.wireless = first
            return advance()
        }
        guard first == "src" || first == "dst" else { return }
        advance()
        if let joint = isJoint(), let second = word(1), second == "src" || second == "dst", second != first {
            advance()
            advance()
            qualifiers.direction = joint == .or ? .either : .both
        } else {
            qualifiers.direction = first == "src" ? .source : .destination
        }
    }
}

/// Reserved words that cannot be host names.
enum FilterKeywords {
    static let wirelessDirections: Set<String> = [
        "addr1", "addr2", "addr3", "addr4", "address1", "address2", "address3", "address4", "ra", "ta",
    ]
    static let wireless: Set<String> = ["type", "subtype", "dir", "direction"]
    static let signalUnits: Set<String> = ["fisu", "lssu", "lsu", "msu", "hfisu", "hlssu", "hmsu"]
    static let signalFields: Set<String> = ["sio", "opc", "dpc", "sls", "hsio", "hopc", "hdpc", "hsls"]
    static let unsupported: [String: String] = [
        "vpi": "SUNATM", "vci": "SUNATM", "lane": "SUNATM", "llcatm": "SUNATM", "metac": "SUNATM", "bcc": "SUNATM",
        "oam": "SUNATM", "oamf4": "SUNATM", "oamf4ec": "SUNATM", "oamf4sc": "SUNATM", "sc": "SUNATM",
        "ilmic": "SUNATM", "connectmsg": "SUNATM", "metaconnect": "SUNATM",
        "rnr": "PFLOG", "rulenum": "PFLOG", "srnr": "PFLOG", "subrulenum": "PFLOG", "reason": "PFLOG",
        "rset": "PFLOG", "ruleset": "PFLOG", "action": "PFLOG", "on": "PFLOG", "ifname": "PFLOG",
    ]
    static let all: Set<String> = {
        var words: Set<String> = [
            "ether", "fddi", "tr", "wlan", "ppp", "slip", "es-is", "is-is", "src", "dst", "and", "or", "not", "less",
            "greater", "byte", "broadcast", "multicast", "len", "length", "inbound", "outbound", "ifindex", "vlan",
            "mpls", "pppoed", "pppoes", "geneve", "vxlan", "llc", "mask",
        ]
        words.formUnion(FilterProtocol.allCases.map(\.rawValue))
        words.formUnion(["host", "net", "port", "portrange", "proto", "protochain", "gateway"])
        words.formUnion(wirelessDirections)
        words.formUnion(wireless)
        words.formUnion(signalUnits)
        words.formUnion(signalFields)
        words.formUnion(unsupported.keys)
        words.formUnion(FilterNames.constants.keys)
        return words
    }()
}

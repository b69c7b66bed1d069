import CausewayTypes

/// A filter expression token.
struct FilterToken: Sendable {
    enum Kind: Hashable, Sendable {
        /// A word. `escaped` marks a name after a backslash, which is not a keyword.
        case word(String, escaped: Bool)
        case number(UInt32)
        /// An IPv4 address with one to four decimal parts: the bits of the parts as a number, and how many bits there
        /// are.
        case ipv4(UInt32, width: Int, text: String)
        case ipv6(high: UInt64, low: UInt64)
        case mac(UInt64)
        /// `$` and two digits: a one-byte address.
        case shortMAC(UInt32)
        case symbol(String)
        case end
    }
    var kind: Kind
    /// Position in the expression, in characters.
    var position: Int

    /// The token's text for error messages. Most tokens appear as they are written in the expression.
    var text: String {
        switch kind {
        case .word(let word, _): "'\(word)'"
        case .number(let number): "'\(number)'"
        case .ipv4(_, _, let text): "'\(text)'"
        case .ipv6: "an IPv6 address"
        case .mac: "a hardware address"
        case .shortMAC: "an address of one byte"
        case .symbol(let symbol): "'\(symbol)'"
        case .end: "the end"
        }
    }
}

/// Splits a filter expression into tokens.
struct FilterLexer {
    private let characters: [Character]
    private var position = 0
    /// The number of brackets that are open at the position.
    private var openBrackets = 0

    init(_ expression: String) { characters = Array(expression) }

    static func tokens(_ expression: String) throws(FilterError) -> [FilterToken] {
        var lexer = FilterLexer(expression)
        var tokens: [FilterToken] = []
        while true {
            let token = try lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    private mutating func next() throws(FilterError) -> FilterToken {
        while position < characters.count, characters[position].isWhitespace { position += 1 }
        let start = position
        guard position < characters.count else { return FilterToken(kind: .end, position: start) }
        if let symbol = symbol() { return FilterToken(kind: .symbol(symbol), position: start) }
        let isEscaped = characters[position] == "\\"
        if isEscaped { position += 1 }
        var text = ""
        while position < characters.count, isWordCharacter(text) {
            text.append(characters[position])
            position += 1
        }
        if isEscaped {
            guard !text.isEmpty else { throw FilterError("a name must follow the backslash", at: start) }
            return FilterToken(kind: .word(text, escaped: true), position: start)
        }
        guard !text.isEmpty else {
            throw FilterError("unexpected character '\(characters[start])'", at: start)
        }
        return FilterToken(kind: try Self.classify(text, at: start), position: start)
    }

    private mutating func symbol() -> String? {
        let two = position + 1 < characters.count ? String(characters[position...position + 1]) : ""
        if ["&&", "||", "<=", ">=", "==", "!=", "<<", ">>"].contains(two) {
            position += 2
            return two
        }
        let one = characters[position]
        guard "()[]!<>=+-*/%&|^".contains(one) else {
            guard one == ":" else { return nil }
            // A colon begins an IPv6 address, or separates the parts of an index.
            let follows = position + 1 < characters.count ? characters[position + 1] : " "
            guard follows != ":" else { return nil }
            position += 1
            return ":"
        }
        if one == "[" { openBrackets += 1 } else if one == "]" { openBrackets -= 1 }
        position += 1
        return String(one)
    }

    /// Returns whether the character at the current position belongs to the current word. A word consists of letters,
    /// digits, and the separators in names and addresses.
    ///
    /// A hyphen belongs to the word if a letter or digit follows it. Such hyphens occur in names, hardware addresses
    /// and ranges. Any other hyphen is a minus sign.
    private func isWordCharacter(_ text: String) -> Bool {
        let character = characters[position]
        if character.isLetter || character.isNumber || character == "." || character == "_" { return true }
        if character == "$" { return text.isEmpty }
        if character == ":" {
            guard !text.isEmpty || (position + 1 < characters.count && characters[position + 1] == ":") else {
                return false
            }
            return isAddressColon(text)
        }
        guard character == "-", !text.isEmpty else { return false }
        let next = position + 1 < characters.count ? characters[position + 1] : " "
        guard next.isLetter || next.isNumber else { return false }
        return true
    }

    /// Whether the colon at the current position belongs to an address.
    ///
    /// `text` is the word before the colon. In an address, this word contains only hexadecimal digits, colons and dots.
    /// A colon inside brackets never belongs to an address, because it separates offset and size there, as in
    /// `ip[0:2]`.
    private func isAddressColon(_ text: String) -> Bool {
        openBrackets <= 0 && text.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }

    private static func classify(_ text: String, at position: Int) throws(FilterError) -> FilterToken.Kind {
        if text.hasPrefix("$") {
            let digits = text.dropFirst()
            guard (1...2).contains(digits.count), let number = UInt32(digits: digits, radix: 16) else {
                throw FilterError("'\(text)' is not an address of one byte", at: position)
            }
            return .shortMAC(number)
        }
        if text.contains(":") { return try colons(text, at: position) }
        if text.contains("-") {
            if let address = MACAddress(text), text.split(separator: "-").count == 6 { return .mac(address.bits) }
            return .word(text, escaped: false)
        }
        guard let first = text.first, first.isNumber else { return .word(text, escaped: false) }
        if text.contains(".") { return try dots(text, at: position) }
        if text.allSatisfy(\.isNumber) || text.lowercased().hasPrefix("0x") {
            return .number(try number(text, at: position))
        }
        if text.count == 12, text.allSatisfy(\.isHexDigit), let bits = UInt64(text, radix: 16) { return .mac(bits) }
        return .word(text, escaped: false)
    }

    private static func colons(_ text: String, at position: Int) throws(FilterError) -> FilterToken.Kind {
        if let address = MACAddress(text), text.filter({ $0 == ":" }).count == 5, !text.contains("::") {
            return .mac(address.bits)
        }
        guard let address = IPv6Address(text) else { throw FilterError("'\(text)' is not an address", at: position) }
        return .ipv6(high: address.high, low: address.low)
    }

    private static func dots(_ text: String, at position: Int) throws(FilterError) -> FilterToken.Kind {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 6 || (parts.count == 3 && parts.allSatisfy { $0.count == 4 && $0.allSatisfy(\.isHexDigit) }) {
            let digits = parts.count == 3 ? parts.joined() : ""
            if parts.count == 6, let address = MACAddress(text) { return .mac(address.bits) }
            if let bits = UInt64(digits, radix: 16) { return .mac(bits) }
        }
        guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isNumber) }), parts.count <= 4 else {
            return .word(text, escaped: false)
        }
        var bits: UInt32 = 0
        for part in parts {
            guard let value = UInt8(part) else {
                // A text such as `1.5` may be a DECnet address, which consists of an area and a node.
                if parts.count == 2 { return .word(text, escaped: false) }
                throw FilterError("'\(text)' is not an IPv4 address", at: position)
            }
            bits = bits << 8 | UInt32(value)
        }
        return .ipv4(bits, width: parts.count * 8, text: text)
    }

    /// Parses a decimal number, an octal number with prefix 0, or a hexadecimal number with prefix 0x.
    private static func number(_ text: String, at position: Int) throws(FilterError) -> UInt32 {
        let lower = text.lowercased()
        let value: UInt32?
        if lower.hasPrefix("0x") {
            guard lower.count > 2, lower.dropFirst(2).allSatisfy(\.isHexDigit) else {
                throw FilterError("'\(text)' is not a hexadecimal number", at: position)
            }
            value = UInt32(lower.dropFirst(2), radix: 16)
        } else if lower.hasPrefix("0"), lower.count > 1 {
            guard lower.allSatisfy({ "01234567".contains($0) }) else {
                throw FilterError("the number '\(text)' begins with 0 and is not an octal number", at: position)
            }
            value = UInt32(lower, radix: 8)
        } else {
            value = UInt32(lower)
        }
        guard let value else { throw FilterError("the number '\(text)' has more than 32 bits", at: position) }
        return value
    }
}

/// A value in the test expressions of the feed corpus.
indirect enum ExpectedValue: Equatable {
    case none
    case boolean(Bool)
    case number(Double)
    case string(String)
    case list([ExpectedValue])
    case map([String: ExpectedValue])

    /// Whether the value counts as true: it is not empty, zero, `false` or absent.
    var isTrue: Bool {
        switch self {
        case .none: false
        case .boolean(let value): value
        case .number(let value): value != 0
        case .string(let value): !value.isEmpty
        case .list(let value): !value.isEmpty
        case .map(let value): !value.isEmpty
        }
    }

    /// Returns whether two values are equal. A Boolean value equals the number 0 or 1.
    func equals(_ other: ExpectedValue) -> Bool {
        switch (self, other) {
        case (.boolean(let value), .number(let number)), (.number(let number), .boolean(let value)):
            (value ? 1 : 0) == number
        default: self == other
        }
    }
}

/// An expression of the corpus, in the syntax of its authors' language.
struct Expectation {
    enum Failure: Error { case syntax(String), missing(String) }

    private enum Token: Equatable {
        case name(String), string(String), number(Double), sign(String), end
    }

    private var tokens: [Token] = []
    private var index = 0
    private var names: [String: ExpectedValue] = [:]

    /// Splits an expression into tokens.
    init(_ text: String) throws {
        var rest = Array(text.unicodeScalars)[...]
        while let scalar = rest.first {
            if scalar.properties.isWhitespace {
                rest.removeFirst()
            } else if scalar == "'" || scalar == "\"" {
                tokens.append(.string(try Self.string(&rest)))
            } else if ("0"..."9").contains(scalar) {
                let digits = rest.prefix { ("0"..."9").contains($0) || $0 == "." }
                rest = rest[digits.endIndex...]
                tokens.append(.number(Double(String(String.UnicodeScalarView(digits))) ?? 0))
            } else if scalar.properties.isAlphabetic || scalar == "_" {
                let word = rest.prefix { $0.properties.isAlphabetic || $0 == "_" || ("0"..."9").contains($0) }
                rest = rest[word.endIndex...]
                let isPrefix = word.count == 1 && (rest.first == "'" || rest.first == "\"")
                if !isPrefix { tokens.append(.name(String(String.UnicodeScalarView(word)))) }
            } else {
                let pair = String(String.UnicodeScalarView(rest.prefix(2)))
                let sign = ["==", "!=", "<=", ">="].contains(pair) ? pair : String(scalar)
                rest.removeFirst(sign.unicodeScalars.count)
                tokens.append(.sign(sign))
            }
        }
        tokens.append(.end)
    }

    private static func string(_ rest: inout ArraySlice<Unicode.Scalar>) throws -> String {
        let quote = rest.removeFirst()
        let isTriple = rest.count >= 2 && rest.prefix(2).allSatisfy { $0 == quote }
        if isTriple { rest.removeFirst(2) }
        var result = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == quote {
                if !isTriple { return String(result) }
                if rest.prefix(2).allSatisfy({ $0 == quote }), rest.count >= 2 {
                    rest.removeFirst(2)
                    return String(result)
                }
            }
            if scalar == "\\" { result.append(try escape(&rest)) } else { result.append(scalar) }
        }
        throw Failure.syntax("a string does not end")
    }

    private static func escape(_ rest: inout ArraySlice<Unicode.Scalar>) throws -> Unicode.Scalar {
        guard let kind = rest.popFirst() else { throw Failure.syntax("an escape does not end") }
        switch kind {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "x", "u", "U":
            let count = kind == "x" ? 2 : kind == "u" ? 4 : 8
            let digits = String(String.UnicodeScalarView(rest.prefix(count)))
            rest.removeFirst(min(count, rest.count))
            guard let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else {
                throw Failure.syntax("an escape")
            }
            return scalar
        default: return kind
        }
    }

    /// Evaluates the expression with these names, and returns its value.
    mutating func evaluate(_ names: [String: ExpectedValue]) throws -> ExpectedValue {
        self.names = names
        index = 0
        let value = try disjunction()
        guard tokens[index] == .end else { throw Failure.syntax("after the expression: \(tokens[index])") }
        return value
    }

    private mutating func take(_ token: Token) -> Bool {
        guard tokens[index] == token else { return false }
        index += 1
        return true
    }

    private mutating func disjunction() throws -> ExpectedValue {
        var value = try conjunction()
        while take(.name("or")) {
            let right = try conjunction()
            if !value.isTrue { value = right }
        }
        return value
    }

    private mutating func conjunction() throws -> ExpectedValue {
        var value = try negation()
        while take(.name("and")) {
            let right = try negation()
            if value.isTrue { value = right }
        }
        return value
    }

    private mutating func negation() throws -> ExpectedValue {
        take(.name("not")) ? .boolean(!(try negation().isTrue)) : try comparison()
    }

    private mutating func comparison() throws -> ExpectedValue {
        var left = try sum()
        var result: Bool?
        while true {
            let isEqual: Bool
            if take(.sign("==")) {
                isEqual = true
            } else if take(.sign("!=")) {
                isEqual = false
            } else if take(.name("is")) {
                isEqual = !take(.name("not"))
            } else {
                return result.map { .boolean($0) } ?? left
            }
            let right = try sum()
            result = (result ?? true) && left.equals(right) == isEqual
            left = right
        }
    }

    private mutating func sum() throws -> ExpectedValue {
        var value = try primary()
        while take(.sign("+")) {
            guard case .string(let left) = value, case .string(let right) = try primary() else {
                throw Failure.syntax("+")
            }
            value = .string(left + right)
        }
        return value
    }
}

extension Expectation {
    private mutating func primary() throws -> ExpectedValue {
        let token = tokens[index]
        index += 1
        var value: ExpectedValue
        switch token {
        case .string(var text):
            while case .string(let more) = tokens[index] {
                text += more
                index += 1
            }
            value = .string(text)
        case .number(let number): value = .number(number)
        case .sign("-"):
            guard case .number(let number) = try primary() else { throw Failure.syntax("-") }
            value = .number(-number)
        case .sign("("): value = try group()
        case .sign("["): value = .list(try list(until: "]"))
        case .sign("{"): value = try map()
        case .name(let name): value = try named(name)
        case .sign, .end: throw Failure.syntax("\(token)")
        }
        while true {
            if take(.sign("[")) {
                let key = try disjunction()
                guard take(.sign("]")) else { throw Failure.syntax("]") }
                value = try Self.member(key, of: value)
            } else if take(.sign(".")) {
                value = try attribute(of: value)
            } else {
                return value
            }
        }
    }

    private mutating func group() throws -> ExpectedValue {
        let elements = try list(until: ")")
        guard elements.count == 1, tokens[index - 2] != .sign(",") else { return .list(elements) }
        return elements[0]
    }

    private mutating func list(until end: String) throws -> [ExpectedValue] {
        var elements: [ExpectedValue] = []
        while !take(.sign(end)) {
            elements.append(try disjunction())
            if !take(.sign(",")), tokens[index] != .sign(end) { throw Failure.syntax(end) }
        }
        return elements
    }

    private mutating func map() throws -> ExpectedValue {
        var members: [String: ExpectedValue] = [:]
        while !take(.sign("}")) {
            guard case .string(let key) = try primary(), take(.sign(":")) else { throw Failure.syntax("}") }
            members[key] = try disjunction()
            _ = take(.sign(","))
        }
        return .map(members)
    }

    private mutating func named(_ name: String) throws -> ExpectedValue {
        switch name {
        case "None": return .none
        case "True": return .boolean(true)
        case "False": return .boolean(false)
        case "len":
            guard take(.sign("(")), case .list(let elements) = try disjunction(), take(.sign(")")) else {
                throw Failure.missing("len")
            }
            return .number(Double(elements.count))
        case "datetime":
            // A duration with up to three numbers: days, seconds and microseconds.
            guard take(.sign(".")), take(.name("timedelta")), take(.sign("(")) else { throw Failure.syntax(name) }
            let parts = try list(until: ")").map { part -> Double in
                guard case .number(let value) = part else { return 0 }
                return value
            }
            return .number(zip(parts, [86_400, 1, 1e-6]).map { $0 * $1 }.reduce(0, +))
        default:
            guard let value = names[name] else { throw Failure.missing(name) }
            return value
        }
    }

    private mutating func attribute(of value: ExpectedValue) throws -> ExpectedValue {
        guard case .name(let name) = tokens[index] else { throw Failure.syntax(".") }
        index += 1
        guard name == "get" || name == "has_key" else { return try Self.member(.string(name), of: value) }
        guard take(.sign("(")), let key = try list(until: ")").first else { throw Failure.syntax(name) }
        let found = try? Self.member(key, of: value)
        return name == "get" ? found ?? .none : .boolean(found != nil)
    }

    private static func member(_ key: ExpectedValue, of value: ExpectedValue) throws -> ExpectedValue {
        switch (value, key) {
        case (.list(let elements), .number(let number)):
            let index = number < 0 ? elements.count + Int(number) : Int(number)
            guard elements.indices.contains(index) else { throw Failure.missing("[\(Int(number))]") }
            return elements[index]
        case (.map(let members), .string(let name)):
            guard let member = members[name] ?? (name == "url" ? members["href"] : nil) else {
                throw Failure.missing(name)
            }
            return member
        default: throw Failure.missing("\(key)")
        }
    }
}

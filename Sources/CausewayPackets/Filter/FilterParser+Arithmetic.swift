/// Parses comparisons between arithmetic expressions.
extension FilterParser {
    /// An arithmetic expression. The conditions tell when the packet is long enough to read the expression's bytes.
    struct Computed {
        var expression: FilterExpression
        var conditions: [FilterNode] = []
    }

    /// Parses a comparison that begins with a parenthesis. Consumes nothing if there is none.
    mutating func relationIfAny() throws(FilterError) -> FilterNode? {
        let start = position
        operations = 0
        guard let left = try? sum(0), comparison() != nil else {
            position = start
            return nil
        }
        return try relation(left)
    }

    mutating func relation() throws(FilterError) -> FilterNode {
        operations = 0
        return try relation(try sum(0))
    }

    private mutating func relation(_ left: Computed) throws(FilterError) -> FilterNode {
        guard let symbol = comparison() else { return try expected("a comparison") }
        advance()
        let right = try sum(0)
        let relation = Self.relation(left.expression, symbol, right.expression)
        let conditions = left.conditions + right.conditions
        return conditions.isEmpty ? relation : .all(conditions + [relation])
    }

    private func comparison() -> String? {
        guard case .symbol(let symbol) = token.kind else { return nil }
        return ["=", "==", "!=", "<", ">", "<=", ">="].contains(symbol) ? symbol : nil
    }

    static func relation(
        _ left: FilterExpression, _ symbol: String, _ right: FilterExpression
    ) -> FilterNode {
        switch symbol {
        case "!=": .not(compare(left, .equal, right))
        case "<": .not(compare(left, .greaterOrEqual, right))
        case "<=": .not(compare(left, .greater, right))
        case ">": compare(left, .greater, right)
        case ">=": compare(left, .greaterOrEqual, right)
        default: compare(left, .equal, right)
        }
    }

    private static func compare(
        _ left: FilterExpression, _ comparison: FilterComparison, _ right: FilterExpression
    ) -> FilterNode {
        guard let a = left.constant, let b = right.constant else { return .relation(left, comparison, right) }
        switch comparison {
        case .equal: return .constant(a == b)
        case .greater: return .constant(a > b)
        case .greaterOrEqual: return .constant(a >= b)
        }
    }

    /// The binary operators, in groups of equal precedence. The group with the lowest precedence comes first.
    private static let levels: [[FilterOperator]] = [
        [.or], [.xor], [.and], [.left, .right], [.add, .subtract], [.multiply, .divide, .modulo],
    ]

    private mutating func sum(_ level: Int) throws(FilterError) -> Computed {
        guard level < Self.levels.count else { return try factor(0) }
        var left = try sum(level + 1)
        while case .symbol(let symbol) = token.kind, let operation = FilterOperator(rawValue: symbol),
            Self.levels[level].contains(operation)
        {
            let place = token
            operations += 1
            guard operations <= FilterLimit.operations else {
                return try fail("the comparison has more than \(FilterLimit.operations) arithmetic operators")
            }
            advance()
            let right = try sum(level + 1)
            if operation == .divide || operation == .modulo, right.expression.constant == 0 {
                return try fail("division by zero", at: place)
            }
            if operation == .left || operation == .right, let bits = right.expression.constant, bits > FilterLimit.shift
            {
                return try fail("shift by \(bits) bits: the maximum is \(FilterLimit.shift)", at: place)
            }
            left = Computed(
                expression: Self.folded(left.expression, operation, right.expression),
                conditions: left.conditions + right.conditions)
        }
        return left
    }

    static func folded(
        _ left: FilterExpression, _ operation: FilterOperator, _ right: FilterExpression
    ) -> FilterExpression {
        guard let a = left.constant, let b = right.constant else { return .binary(left, operation, right) }
        switch operation {
        case .add: return .number(a &+ b)
        case .subtract: return .number(a &- b)
        case .multiply: return .number(a &* b)
        case .divide: return b == 0 ? .number(0) : .number(a / b)
        case .modulo: return b == 0 ? .number(0) : .number(a % b)
        case .and: return .number(a & b)
        case .or: return .number(a | b)
        case .xor: return .number(a ^ b)
        case .left: return .number(a << b)
        case .right: return .number(a >> b)
        }
    }

    private mutating func factor(_ depth: Int) throws(FilterError) -> Computed {
        guard depth < FilterLimit.operandDepth else { return try fail("the expression is nested too deeply") }
        if take(symbol: "-") {
            let inner = try factor(depth + 1)
            if let number = inner.expression.constant { return Computed(expression: .number(0 &- number)) }
            return Computed(expression: .negative(inner.expression), conditions: inner.conditions)
        }
        if take(symbol: "(") {
            let inner = try nested()
            guard take(symbol: ")") else { return try expected("')'") }
            return inner
        }
        switch token.kind {
        case .number(let number):
            advance()
            return Computed(expression: .number(number))
        case .word(let word, escaped: false):
            if word == "len" || word == "length" {
                advance()
                return Computed(expression: .length)
            }
            if let constant = FilterNames.constants[word] {
                advance()
                return Computed(expression: .number(constant))
            }
            return try indexed(word)
        default: return try expected("a number or an index")
        }
    }

    private mutating func indexed(_ word: String) throws(FilterError) -> Computed {
        let first = token
        guard let proto = FilterProtocol.named(word) else { return try expected("a number or an index") }
        advance()
        guard take(symbol: "[") else { return try expected("'['") }
        let index = try nested()
        var size: UInt32 = 1
        if take(symbol: ":") {
            let place = token
            size = try literal()
            guard size == 1 || size == 2 || size == 4 else { return try fail("the size must be 1, 2 or 4", at: place) }
        }
        guard take(symbol: "]") else { return try expected("']'") }
        let layout = self.layout
        let (place, offset, condition) = try meaning(at: first) { () throws(FilterMeaningError) in
            try layout.indexed(proto)
        }
        if let number = index.expression.constant {
            guard number <= FilterLimit.index else { return try fail("the index is negative", at: first) }
        }
        var conditions = index.conditions
        if condition != .constant(true) { conditions.append(condition) }
        return Computed(
            expression: .load(size: Int(size), offset: offset, place: place, index: index.expression),
            conditions: conditions)
    }

    private mutating func nested() throws(FilterError) -> Computed {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting < FilterLimit.arithmeticDepth else { return try fail("the expression is nested too deeply") }
        return try sum(0)
    }
}

extension FilterNode {
    /// Returns the tree as indented text, one line per node.
    func lines(_ depth: Int) -> [String] {
        let indent = String(repeating: "  ", count: depth)
        switch self {
        case .constant(let value): return [indent + (value ? "every packet" : "no packet")]
        case .all(let nodes): return [indent + "all of"] + nodes.flatMap { $0.lines(depth + 1) }
        case .any(let nodes): return [indent + "any of"] + nodes.flatMap { $0.lines(depth + 1) }
        case .not(let node): return [indent + "not"] + node.lines(depth + 1)
        case .test(let load, let mask, let comparison, let value):
            return [indent + "\(load.text)\(Self.mask(mask)) \(comparison.text) \(Self.hex(value))"]
        case .member(let load, let mask, let ranges):
            let shown = ranges.prefix(8).map { range in
                range.count == 1
                    ? Self.hex(range.lowerBound) : "\(Self.hex(range.lowerBound))-\(Self.hex(range.upperBound))"
            }
            let more = ranges.count > 8 ? ", and \(ranges.count - 8) more" : ""
            return [indent + "\(load.text)\(Self.mask(mask)) in \(shown.joined(separator: ", "))\(more)"]
        case .relation(let left, let comparison, let right):
            return [indent + "\(left.text) \(comparison.text) \(right.text)"]
        case .mark(let slot, let place): return [indent + "place \(slot) is \(place.text)"]
        case .chain(let version6, _, _, let proto):
            return [indent + "the headers of IPv\(version6 ? 6 : 4) lead to protocol \(proto)"]
        case .hosts(let hosts): return hosts.expanded.lines(depth)
        }
    }

    static func hex(_ value: UInt32) -> String { "0x" + String(value, radix: 16) }
    private static func mask(_ mask: UInt32) -> String { mask == .max ? "" : " & \(hex(mask))" }
}

extension FilterComparison {
    var text: String {
        switch self {
        case .equal: "=="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}

extension FilterPlace {
    func text(_ offset: String) -> String {
        let base = slot.map { "place \($0) + " } ?? ""
        return header == nil ? "[\(base)\(offset)]" : "[\(base)IPv4 header + \(offset)]"
    }
}

extension FilterLoad {
    var text: String { place.text(String(offset)) + (size == 1 ? "" : ":\(size)") }
}

extension FilterExpression {
    var text: String {
        switch self {
        case .number(let number): FilterNode.hex(number)
        case .length: "len"
        case .load(let size, let offset, let place, let index):
            place.text(index.constant.map { String(offset + Int($0)) } ?? "\(offset) + \(index.text)")
                + (size == 1 ? "" : ":\(size)")
        case .binary(let left, let operation, let right): "(\(left.text) \(operation.rawValue) \(right.text))"
        case .negative(let inner): "-\(inner.text)"
        case .place(let place): place.slot.map { "place \($0)" } ?? "0"
        }
    }
}

extension FilterInstruction {
    /// Returns the instruction in BPF assembler syntax.
    func text(_ index: Int) -> String {
        let number = String(index)
        let head = "(" + String(repeating: "0", count: max(0, 3 - number.count)) + number + ") "
        typealias Code = FilterProgram.Code
        let hex = "#" + FilterNode.hex(k)
        switch code {
        case Code.loadWord: return head + "ld       [\(k)]"
        case Code.loadHalf: return head + "ldh      [\(k)]"
        case Code.loadByte: return head + "ldb      [\(k)]"
        case Code.loadWordAtX: return head + "ld       [x + \(k)]"
        case Code.loadHalfAtX: return head + "ldh      [x + \(k)]"
        case Code.loadByteAtX: return head + "ldb      [x + \(k)]"
        case Code.loadNumber: return head + "ld       \(hex)"
        case Code.loadScratch: return head + "ld       M[\(k)]"
        case Code.loadLength: return head + "ld       #pktlen"
        case Code.xScratch: return head + "ldx      M[\(k)]"
        case Code.xHeaderLength: return head + "ldxb     4*([\(k)]&0xf)"
        case Code.store: return head + "st       M[\(k)]"
        case Code.toX: return head + "tax"
        case Code.fromX: return head + "txa"
        case Code.negate: return head + "neg"
        case Code.answer: return head + "ret      #\(k)"
        case Code.jump: return head + "ja       \(jt)"
        case Code.chain: return head + "chain    \(k)"
        default: break
        }
        let operand = code & Code.viaX != 0 ? "x" : hex
        if isJump {
            let names: [UInt16: String] = [0x10: "jeq", 0x20: "jgt", 0x30: "jge", 0x40: "jset"]
            let name = names[code & 0xF0] ?? "?"
            return head + pad(name, 9) + pad(operand, 16) + "jt \(jt)\tjf \(jf)"
        }
        let names: [UInt16: String] = [
            0x00: "add", 0x10: "sub", 0x20: "mul", 0x30: "div", 0x40: "or", 0x50: "and", 0x60: "lsh", 0x70: "rsh",
            0x90: "mod", 0xA0: "xor",
        ]
        return head + pad(names[code & 0xF0] ?? "?", 9) + operand
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

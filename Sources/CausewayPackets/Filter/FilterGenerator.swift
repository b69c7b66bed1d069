/// Generates the program for a filter's tree.
///
/// All jumps lead forward. The generator tracks the register contents, so that no value is loaded twice in a row.
struct FilterGenerator {
    typealias Code = FilterProgram.Code
    typealias Label = Int

    private struct Registers: Equatable {
        var a: FilterLoad?
        var x: FilterPlace?
        static let unknown = Registers()

        func common(_ other: Registers) -> Registers {
            Registers(a: a == other.a ? a : nil, x: x == other.x ? x : nil)
        }
    }

    private var instructions: [FilterInstruction] = []
    private var chains: [FilterProgram.Chain] = []
    private var targets: [Int32] = []
    /// For each label, the known register contents that are the same at all jumps to this label.
    private var arrivals: [Registers?] = []
    private var registers = Registers.unknown
    private var isTooComplex = false

    /// The numbers of slots for two purposes. The lower half of BPF's scratch memory is for arithmetic. The upper half
    /// is for header positions.
    private static let computingSlots = 8
    static let placeSlots = 8

    /// Generates the program for a tree.
    ///
    /// - Returns: The program; `nil` if the expression needs more scratch memory than BPF has.
    static func program(_ node: FilterNode, keeping snapLength: UInt32) -> FilterProgram? {
        var generator = FilterGenerator()
        let (yes, no) = (generator.label(), generator.label())
        generator.emit(node, yes, no)
        generator.place(yes)
        generator.put(Code.answer, snapLength)
        generator.place(no)
        generator.put(Code.answer, 0)
        return generator.isTooComplex ? nil : generator.finish()
    }

    private mutating func label() -> Label {
        targets.append(-1)
        arrivals.append(nil)
        return targets.count - 1
    }

    private mutating func place(_ label: Label) {
        targets[label] = Int32(instructions.count)
        registers = arrivals[label] ?? .unknown
    }

    private mutating func put(_ code: UInt16, _ k: UInt32 = 0) {
        instructions.append(FilterInstruction(code: code, k: k))
    }

    private mutating func arrive(_ label: Label) {
        arrivals[label] = arrivals[label].map { $0.common(registers) } ?? registers
    }

    private mutating func branch(_ code: UInt16, _ k: UInt32, _ yes: Label, _ no: Label) {
        arrive(yes)
        arrive(no)
        instructions.append(FilterInstruction(code: code, k: k, jt: Int32(yes), jf: Int32(no)))
    }

    private mutating func jump(_ label: Label) {
        arrive(label)
        instructions.append(FilterInstruction(code: Code.jump, k: 0, jt: Int32(label), jf: Int32(label)))
    }

    /// Replaces jump labels by instruction positions, and removes jumps to the next instruction.
    private func finish() -> FilterProgram {
        var result = instructions
        for index in result.indices where result[index].isJump {
            result[index].jt = targets[Int(result[index].jt)]
            result[index].jf = targets[Int(result[index].jf)]
        }
        // A jump can lead to an instruction that is itself only a jump. Replace the target of the first jump by the
        // final target.
        for index in result.indices.reversed() where result[index].isJump {
            if result[Int(result[index].jt)].code == Code.jump { result[index].jt = result[Int(result[index].jt)].jt }
            if result[Int(result[index].jf)].code == Code.jump { result[index].jf = result[Int(result[index].jf)].jt }
        }
        return FilterProgram(instructions: Self.withoutIdleJumps(result), chains: chains)
    }

    private static func withoutIdleJumps(_ code: [FilterInstruction]) -> [FilterInstruction] {
        var place: [Int32] = []
        var kept: [FilterInstruction] = []
        for (index, instruction) in code.enumerated() {
            place.append(Int32(kept.count))
            let isIdle = instruction.code == Code.jump && Int(instruction.jt) == index + 1
            if !isIdle { kept.append(instruction) }
        }
        place.append(Int32(kept.count))
        for index in kept.indices where kept[index].isJump {
            kept[index].jt = place[Int(kept[index].jt)]
            kept[index].jf = place[Int(kept[index].jf)]
        }
        return kept
    }

    private mutating func emit(_ node: FilterNode, _ yes: Label, _ no: Label) {
        switch node {
        case .constant(let value): jump(value ? yes : no)
        case .not(let node): emit(node, no, yes)
        case .all(let nodes):
            for node in nodes.dropLast() {
                let next = label()
                emit(node, next, no)
                place(next)
            }
            if let last = nodes.last { emit(last, yes, no) } else { jump(yes) }
        case .any(let nodes):
            for node in nodes.dropLast() {
                let next = label()
                emit(node, yes, next)
                place(next)
            }
            if let last = nodes.last { emit(last, yes, no) } else { jump(no) }
        case .test(let load, let mask, let comparison, let value):
            self.load(load)
            test(mask, comparison, value, yes, no)
        case .member(let load, let mask, let ranges):
            self.load(load)
            if mask != .max { applyMask(mask) }
            search(ranges[...], yes, no)
        case .relation(let left, let comparison, let right): relation(left, comparison, right, yes, no)
        case .hosts(let hosts): emit(hosts.expanded, yes, no)
        case .mark(let slot, let expression):
            compute(expression, 0)
            put(Code.store, UInt32(slot + Self.computingSlots))
            // The scratch memory slot now has a new value. If a register was loaded relative to the old value, its
            // content is no longer valid.
            registers = .unknown
            jump(yes)
        case .chain(let version6, let at, let slot, let proto):
            chains.append(
                FilterProgram.Chain(
                    version6: version6, at: at, slot: slot.map { $0 + Self.computingSlots }, proto: proto))
            put(Code.chain, UInt32(chains.count - 1))
            registers.a = nil
            branch(Code.jumpEqual, 1, yes, no)
        }
    }

    private mutating func applyMask(_ mask: UInt32) {
        put(Code.arithmetic(.and), mask)
        registers.a = nil
    }

    private mutating func test(
        _ mask: UInt32, _ comparison: FilterComparison, _ value: UInt32, _ yes: Label, _ no: Label
    ) {
        if comparison == .equal, value == 0, mask != .max { return branch(Code.jumpAny, mask, no, yes) }
        // Test whether this single bit is set. The test does not change the accumulator.
        if comparison == .equal, value == mask, mask.nonzeroBitCount == 1 { return branch(Code.jumpAny, mask, yes, no) }
        if mask != .max { applyMask(mask) }
        branch(Self.code(comparison), value, yes, no)
    }

    private static func code(_ comparison: FilterComparison) -> UInt16 {
        switch comparison {
        case .equal: Code.jumpEqual
        case .greater: Code.jumpGreater
        case .greaterOrEqual: Code.jumpGreaterOrEqual
        }
    }

    /// Generates a binary search over sorted ranges.
    private mutating func search(_ ranges: ArraySlice<ClosedRange<UInt32>>, _ yes: Label, _ no: Label) {
        guard let first = ranges.first else { return jump(no) }
        if ranges.count == 1 {
            if first.lowerBound == first.upperBound { return branch(Code.jumpEqual, first.lowerBound, yes, no) }
            if first.lowerBound == 0 { return branch(Code.jumpGreater, first.upperBound, no, yes) }
            let above = label()
            branch(Code.jumpGreaterOrEqual, first.lowerBound, above, no)
            place(above)
            return branch(Code.jumpGreater, first.upperBound, no, yes)
        }
        let middle = ranges.startIndex + ranges.count / 2
        let (lower, upper) = (label(), label())
        branch(Code.jumpGreaterOrEqual, ranges[middle].lowerBound, upper, lower)
        place(lower)
        search(ranges[..<middle], yes, no)
        place(upper)
        search(ranges[middle...], yes, no)
    }

    private mutating func load(_ load: FilterLoad) {
        guard registers.a != load else { return }
        if load.place == .packet {
            put(Self.loadCode(load.size, viaX: false), UInt32(truncatingIfNeeded: load.offset))
        } else {
            setX(load.place)
            put(Self.loadCode(load.size, viaX: true), UInt32(truncatingIfNeeded: load.offset))
        }
        registers.a = load
    }

    private static func loadCode(_ size: Int, viaX: Bool) -> UInt16 {
        switch size {
        case 1: viaX ? Code.loadByteAtX : Code.loadByte
        case 2: viaX ? Code.loadHalfAtX : Code.loadHalf
        default: viaX ? Code.loadWordAtX : Code.loadWord
        }
    }

    /// Loads a packet position, such as the start of a header, into the index register. May change the accumulator.
    private mutating func setX(_ place: FilterPlace) {
        guard registers.x != place else { return }
        switch (place.slot, place.header) {
        case (nil, let header?): put(Code.xHeaderLength, UInt32(truncatingIfNeeded: header))
        case (let slot?, nil): put(Code.xScratch, UInt32(slot + Self.computingSlots))
        case (let slot?, let header?):
            put(Code.xScratch, UInt32(slot + Self.computingSlots))
            put(Code.loadByteAtX, UInt32(truncatingIfNeeded: header))
            put(Code.arithmetic(.and), 15)
            put(Code.arithmetic(.left), 2)
            put(Code.arithmetic(.add) | Code.viaX)
            put(Code.toX)
            registers.a = nil
        case (nil, nil):
            put(Code.loadNumber, 0)
            put(Code.toX)
            registers.a = nil
        }
        registers.x = place
    }

    private mutating func relation(
        _ left: FilterExpression, _ comparison: FilterComparison, _ right: FilterExpression, _ yes: Label, _ no: Label
    ) {
        compute(left, 0)
        if let number = right.constant { return branch(Self.code(comparison), number, yes, no) }
        put(Code.store, 0)
        compute(right, 1)
        put(Code.toX)
        put(Code.loadScratch, 0)
        registers = .unknown
        branch(Self.code(comparison) | Code.viaX, 0, yes, no)
    }

    /// Generates the code that computes an expression into BPF's accumulator. The code may store intermediate results
    /// in scratch memory from index `depth` on.
    private mutating func compute(_ expression: FilterExpression, _ depth: Int) {
        guard depth < Self.computingSlots else {
            isTooComplex = true
            return
        }
        switch expression {
        case .number(let number): put(Code.loadNumber, number)
        case .length: put(Code.loadLength)
        case .place(.packet): put(Code.loadNumber, 0)
        case .place(let place):
            setX(place)
            put(Code.fromX)
        case .negative(let inner):
            compute(inner, depth)
            put(Code.negate)
        case .load(let size, let offset, let place, let index):
            if let number = index.constant {
                load(FilterLoad(size: size, offset: offset + Int(number), place: place))
                return
            }
            compute(index, depth)
            if place != .packet {
                put(Code.store, UInt32(depth))
                registers.a = nil
                setX(place)
                put(Code.loadScratch, UInt32(depth))
                put(Code.arithmetic(.add) | Code.viaX)
            }
            put(Code.toX)
            put(Self.loadCode(size, viaX: true), UInt32(truncatingIfNeeded: offset))
            registers.x = nil
        case .binary(let left, let operation, let right):
            compute(left, depth)
            if let number = right.constant {
                put(Code.arithmetic(operation), number)
            } else {
                put(Code.store, UInt32(depth))
                compute(right, depth + 1)
                put(Code.toX)
                put(Code.loadScratch, UInt32(depth))
                put(Code.arithmetic(operation) | Code.viaX)
                registers.x = nil
            }
        }
        registers.a = nil
    }
}

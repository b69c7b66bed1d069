/// Converts a BPF filter program into ``FilterDecision`` values.
struct FilterDecisionMaking {
    /// A comparison of a packet field with a constant.
    struct Comparison: Hashable {
        var at: UInt32
        var width: UInt32
        /// Whether the field's offset is `at` plus the length of the IP header.
        var isMoved: Bool
        var mask: UInt32
        var value: UInt32
        /// Eight accepted values for a one-byte field. The same value can occur more than once. If this property is not
        /// `nil`, `mask` and `value` are not used.
        var bytes: UInt64?

        /// Whether `fact` implies this comparison. Returns `true` if the comparison must hold, and `false` if it cannot
        /// hold. Returns `nil` if `fact` does not determine the result.
        func follows(from fact: Comparison) -> Bool? {
            guard at == fact.at, width == fact.width, bytes == nil, fact.bytes == nil else { return nil }
            guard !isMoved, !fact.isMoved else { return nil }
            if (value ^ fact.value) & mask & fact.mask != 0 { return false }
            return mask & ~fact.mask == 0 ? true : nil
        }
    }

    /// What is known about the registers at one position in the filter program.
    struct Registers: Hashable {
        /// The offset of the IP header whose length is in the index register. Negative if the header is unknown.
        var header: Int32 = -1
        /// The packet field that was loaded last, with its mask. `nil` if different paths through the program load
        /// different fields.
        var loaded: Comparison?
    }

    private struct Branch {
        var test: Comparison
        /// The register contents after the comparison. They do not depend on the comparison's result.
        var registers: Registers
        var jt: Int
        var jf: Int
    }

    private struct Key: Hashable {
        var position: Int
        var registers: Registers
        var facts: [Comparison]
    }

    private static let maximum = 64
    /// The limit for a field offset in a ``FilterDecision``. A filter with a larger offset is evaluated only as a BPF
    /// program.
    private static let farthest: UInt32 = 1 << 20

    private let instructions: [FilterInstruction]
    private var known: [Key: Int32] = [:]
    private var begun = 0
    private(set) var steps: [FilterDecision] = []
    private(set) var answer: UInt32?

    init(_ instructions: [FilterInstruction]) { self.instructions = instructions }

    /// Converts the filter program into a tree of ``FilterDecision`` values.
    ///
    /// Returns the index of the first decision, or `nil` if the program cannot be converted.
    mutating func start() -> Int32? { place(0, Registers(), []) }

    /// Converts the part of the filter program that begins at a position.
    ///
    /// Returns the index of the first ``FilterDecision``, or a negative value that ends the evaluation. Returns `nil`
    /// if the part cannot be converted. `facts` contains comparisons that are known to hold at this position.
    private mutating func place(_ position: Int, _ registers: Registers, _ facts: [Comparison]) -> Int32? {
        switch end(position, registers, facts) {
        case .answered(let place): return place
        case .unknown: return nil
        case .branch(let branch, let position):
            let key = Key(position: position, registers: branch.registers, facts: facts)
            if let place = known[key] { return place }
            guard let place = make(branch, facts) else { return nil }
            known[key] = place
            return place
        }
    }

    private enum End {
        case answered(Int32)
        case branch(Branch, at: Int)
        case unknown
    }

    /// Evaluates the filter program from a given position, as far as possible. Follows jumps, and comparisons with a
    /// known result. Returns the program's result, or the first comparison whose result is unknown.
    private mutating func end(_ position: Int, _ registers: Registers, _ facts: [Comparison]) -> End {
        var (position, registers) = (position, registers)
        while position < instructions.count {
            let instruction = instructions[position]
            switch instruction.code {
            case FilterProgram.Code.jump: position = Int(instruction.jt)
            case FilterProgram.Code.xHeaderLength:
                // If a packet ends before this IP header, the filter program rejects it. A decision notices the end of
                // the packet only when it loads a field behind the header. So the next instruction must load a field
                // whose offset includes the header's length.
                guard instruction.k < Self.farthest, isMoved(position + 1) else { return .unknown }
                registers.header = Int32(instruction.k)
                position += 1
            case FilterProgram.Code.answer: return answered(instruction.k)
            default:
                guard let branch = branch(position, registers) else { return .unknown }
                guard let holds = facts.lazy.compactMap({ branch.test.follows(from: $0) }).first else {
                    return .branch(branch, at: position)
                }
                registers = branch.registers
                position = holds ? branch.jt : branch.jf
            }
        }
        return .unknown
    }

    private mutating func answered(_ k: UInt32) -> End {
        if k == 0 { return .answered(FilterDecision.refused) }
        if let answer, answer != k { return .unknown }
        answer = k
        return .answered(FilterDecision.taken)
    }

    private func branch(_ position: Int, _ registers: Registers) -> Branch? {
        if let set = FilterByteSet.branch(instructions, position) {
            let field = Comparison(at: set.at, width: 1, isMoved: false, mask: .max, value: 0)
            let test = Comparison(at: set.at, width: 1, isMoved: false, mask: 0, value: 0, bytes: set.bytes)
            let registers = Registers(header: registers.header, loaded: field)
            return Branch(test: test, registers: registers, jt: set.jt, jf: set.jf)
        }
        guard let step = FilterStep.joined(instructions, position) else { return again(position, registers) }
        guard step.k < Self.farthest else { return nil }
        let isMoved = step.code == FilterStep.halfAtXEqual || step.code == FilterStep.byteAtXEqual
        // Give up if the header's position is unknown, because offsets relative to this header cannot be compared.
        if isMoved, registers.header < 0 { return nil }
        let width: UInt32 =
            switch step.code {
            case FilterStep.byteEqual, FilterStep.byteAtXEqual: 1
            case FilterStep.wordEqual: 4
            default: 2
            }
        let field = Comparison(at: step.k, width: width, isMoved: isMoved, mask: step.mask, value: 0)
        return branch(field, step.tested, step.value, registers.header, Int(step.jt), Int(step.jf))
    }

    private func isMoved(_ position: Int) -> Bool {
        guard position < instructions.count else { return false }
        let code = instructions[position].code
        return code == FilterProgram.Code.loadHalfAtX || code == FilterProgram.Code.loadByteAtX
    }

    /// Returns the comparison at `position` if it tests a field that an earlier instruction has already loaded.
    private func again(_ position: Int, _ registers: Registers) -> Branch? {
        guard let field = registers.loaded else { return nil }
        let jump = instructions[position]
        switch jump.code {
        case FilterProgram.Code.jumpEqual:
            return branch(field, .max, jump.k, registers.header, Int(jump.jt), Int(jump.jf))
        case FilterProgram.Code.jumpAny:
            return branch(field, jump.k, 0, registers.header, Int(jump.jf), Int(jump.jt))
        default: return nil
        }
    }

    private func branch(
        _ field: Comparison, _ tested: UInt32, _ value: UInt32, _ header: Int32, _ jt: Int, _ jf: Int
    ) -> Branch? {
        let width = UInt32.max >> (32 - field.width * 8)
        var test = field
        (test.mask, test.value) = (field.mask & tested & width, value)
        // A value that has bits outside the mask can never be equal to the masked field. No branch is needed then.
        guard value & ~test.mask == 0 else { return nil }
        // Do not keep a field whose offset includes the IP header's length. The program may later read the length of
        // another IP header. The same offset then leads to another field.
        let loaded = field.isMoved ? nil : field
        return Branch(test: test, registers: Registers(header: header, loaded: loaded), jt: jt, jf: jf)
    }

    private mutating func make(_ branch: Branch, _ facts: [Comparison]) -> Int32? {
        // Count this decision before the decisions after it are created. In this way, `maximum` also limits the
        // recursion depth.
        begun += 1
        guard begun <= Self.maximum else { return nil }
        var shape = FilterDecisionShape(branch.test)
        var holding = [branch.test]
        var (jt, behind) = (branch.jt, branch.registers)
        var (jf, refused) = (branch.jf, branch.registers)
        // More comparisons can follow a match. Merge them as long as their mismatch leads to the same position as a
        // mismatch of the first comparison.
        while case .branch(let next, _) = end(jt, behind, facts + holding), next.jf == branch.jf,
            isTogether(next, branch), shape.add(next.test)
        {
            holding.append(next.test)
            refused = common(refused, next.registers)
            (jt, behind) = (next.jt, next.registers)
        }
        // No comparison was merged so far. Look at the comparison that follows if this one does not match. Merge both
        // if they lead to the same position after a match.
        if holding.count == 1, case .branch(let next, _) = end(jf, branch.registers, facts), next.jt == branch.jt,
            isTogether(next, branch), shape.addOther(next.test)
        {
            (holding, behind) = ([], common(behind, next.registers))
            (jf, refused) = (next.jf, next.registers)
        }
        var step = shape.decision
        step.header = branch.test.isMoved ? branch.registers.header : -1
        let certain = holding.filter { !$0.isMoved }
        guard let taken = place(jt, behind, Array((facts + certain).suffix(4))), let refused = place(jf, refused, facts)
        else { return nil }
        (step.jt, step.jf) = (taken, refused)
        steps.append(step)
        return Int32(steps.count - 1)
    }

    /// Returns whether the offsets of two comparisons have the same base. Either both are relative to the same header,
    /// or both are fixed.
    private func isTogether(_ one: Branch, _ other: Branch) -> Bool {
        one.test.isMoved == other.test.isMoved
            && (!one.test.isMoved || one.registers.header == other.registers.header)
    }

    /// Returns the register contents that are the same on both paths.
    private func common(_ one: Registers, _ other: Registers) -> Registers {
        Registers(
            header: one.header == other.header ? one.header : -1,
            loaded: one.loaded == other.loaded ? one.loaded : nil)
    }
}

/// An instruction as the evaluator runs it.
///
/// Most of a filter are loads with a comparison behind them. Together they are one step: finding out what comes next costs more than
/// doing it.
struct FilterStep: Hashable, Sendable {
    /// Codes of steps that are more than one instruction; all others have the instruction's code.
    static let byteEqual: UInt16 = 0x22
    static let halfEqual: UInt16 = 0x0A
    static let wordEqual: UInt16 = 0x12
    static let halfAtXEqual: UInt16 = 0x1A
    static let byteAtXEqual: UInt16 = 0x2A

    var code: UInt16
    var k: UInt32
    var jt: Int32
    var jf: Int32
    /// What is kept of the number that was loaded, what of that is tested, and what it has to be.
    var mask: UInt32 = .max
    var tested: UInt32 = .max
    var value: UInt32 = 0

    /// Where to go on. By a branch, which the processor foresees, and not by a selection, which all that follows would wait for: that
    /// is what the hint is for, whichever way it points.
    @inline(__always)
    func next(_ holds: Bool) -> Int {
        if _fastPath(holds) { return Int(jt) }
        return Int(jf)
    }

    /// A step for each instruction, in the same places: what was taken into a step stays behind it, for jumps that lead there.
    static func steps(_ instructions: [FilterInstruction]) -> [FilterStep] {
        instructions.indices.map { joined(instructions, $0) ?? FilterStep(instructions[$0]) }
    }

    private init(_ instruction: FilterInstruction) {
        (code, k, jt, jf) = (instruction.code, instruction.k, instruction.jt, instruction.jf)
    }

    /// `nil` where there is no load with a comparison behind it.
    static func joined(_ instructions: [FilterInstruction], _ place: Int) -> FilterStep? {
        typealias Code = FilterProgram.Code
        var step = FilterStep(instructions[place])
        switch step.code {
        case Code.loadByte: step.code = byteEqual
        case Code.loadHalf: step.code = halfEqual
        case Code.loadWord: step.code = wordEqual
        case Code.loadHalfAtX: step.code = halfAtXEqual
        case Code.loadByteAtX: step.code = byteAtXEqual
        default: return nil
        }
        var next = place + 1
        if next < instructions.count, instructions[next].code == Code.arithmetic(.and) {
            step.mask = instructions[next].k
            next += 1
        }
        guard next < instructions.count else { return nil }
        let jump = instructions[next]
        switch jump.code {
        case Code.jumpEqual: (step.value, step.jt, step.jf) = (jump.k, jump.jt, jump.jf)
        // Any of some bits: not none of them.
        case Code.jumpAny: (step.tested, step.jt, step.jf) = (jump.k, jump.jf, jump.jt)
        default: return nil
        }
        return step
    }
}

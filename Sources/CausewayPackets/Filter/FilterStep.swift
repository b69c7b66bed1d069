/// An instruction in the form that the evaluator runs.
///
/// A load and the comparison after it are fused into one step, because dispatching costs more than executing.
struct FilterStep: Hashable, Sendable {
    /// Codes for steps that combine a load and a comparison. All other steps have the code of their BPF instruction.
    static let byteEqual: UInt16 = 0x22
    static let halfEqual: UInt16 = 0x0A
    static let wordEqual: UInt16 = 0x12
    static let halfAtXEqual: UInt16 = 0x1A
    static let byteAtXEqual: UInt16 = 0x2A

    var code: UInt16
    var k: UInt32
    var jt: Int32
    var jf: Int32
    /// This step first combines the loaded value with `mask`. Then it compares the bits that `tested` selects with
    /// `value`.
    var mask: UInt32 = .max
    var tested: UInt32 = .max
    var value: UInt32 = 0

    /// Returns the position of the next step. The hint `_fastPath` makes the compiler emit a branch, because the
    /// processor can predict it. A conditional move would add latency.
    @inline(__always)
    func next(_ holds: Bool) -> Int {
        if _fastPath(holds) { return Int(jt) }
        return Int(jf)
    }

    /// Returns one step for each instruction, in the same order.
    ///
    /// A step can combine an instruction with the next instruction. The next instruction still gets a separate step,
    /// because a jump can lead to it.
    static func steps(_ instructions: [FilterInstruction]) -> [FilterStep] {
        instructions.indices.map { joined(instructions, $0) ?? FilterStep(instructions[$0]) }
    }

    private init(_ instruction: FilterInstruction) {
        (code, k, jt, jf) = (instruction.code, instruction.k, instruction.jt, instruction.jf)
    }

    /// Returns one step that does both a load and the comparison after it. Returns `nil` if no comparison follows the
    /// load.
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
        // The BPF jump tests whether any bit is set. The fused instruction tests whether no bit is set. So exchange the
        // two targets.
        case Code.jumpAny: (step.tested, step.jt, step.jf) = (jump.k, jump.jf, jump.jt)
        default: return nil
        }
        return step
    }
}

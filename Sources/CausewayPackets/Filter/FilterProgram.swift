/// One classic BPF instruction. Its jumps can have any length.
struct FilterInstruction: Hashable, Sendable {
    var code: UInt16
    var k: UInt32
    /// Targets for a true and a false comparison, as indices into the program.
    var jt: Int32 = 0
    var jf: Int32 = 0

    /// Whether this instruction is a jump. The lowest three bits of `code` state the instruction's class.
    var isJump: Bool { code & 7 == FilterProgram.Code.jump & 7 }
}

/// A compiled filter for one link type. It evaluates packets in memory, or is converted to a program for the kernel.
struct FilterProgram: Hashable, Sendable {
    /// An offset at or above this value does not select packet bytes. It selects kernel metadata.
    static let ancillary = Int(UInt32(bitPattern: -0x1000))
    static let directionAt = ancillary + 4
    static let interfaceAt = ancillary + 8

    /// A chain of protocol headers that the filter must follow. A chain can have any length. Classic BPF has no loops,
    /// so the filter's BPF program cannot follow it.
    struct Chain: Hashable, Sendable {
        var version6: Bool
        var at: Int
        var slot: Int?
        var proto: UInt32
    }

    /// The kernel's metadata for a packet.
    struct KernelFacts: Sendable {
        /// The packet's direction: a ``CookedPacketType`` value.
        var direction: UInt8
        var interface: UInt32

        func value(_ place: UInt32) -> UInt32? {
            switch Int(place) {
            case directionAt: UInt32(direction)
            case interfaceAt: interface
            default: nil
            }
        }
    }

    let instructions: [FilterInstruction]
    let chains: [Chain]
    /// The program in the form for the evaluator. Each load is fused with the comparison after it.
    private let steps: [FilterStep]
    /// The same filter, arranged as groups of comparisons. They are enough to decide most packets.
    let decisions: FilterDecisions

    init(instructions: [FilterInstruction], chains: [Chain] = []) {
        self.instructions = instructions
        self.chains = chains
        steps = FilterStep.steps(instructions)
        decisions = FilterDecisions(instructions)
    }

    enum Code {
        static let loadWord: UInt16 = 0x20
        static let loadHalf: UInt16 = 0x28
        static let loadByte: UInt16 = 0x30
        static let loadWordAtX: UInt16 = 0x40
        static let loadHalfAtX: UInt16 = 0x48
        static let loadByteAtX: UInt16 = 0x50
        static let loadNumber: UInt16 = 0x00
        static let loadScratch: UInt16 = 0x60
        static let loadLength: UInt16 = 0x80
        static let xScratch: UInt16 = 0x61
        static let xHeaderLength: UInt16 = 0xB1
        static let store: UInt16 = 0x02
        static let storeX: UInt16 = 0x03
        static let xNumber: UInt16 = 0x01
        static let toX: UInt16 = 0x07
        static let fromX: UInt16 = 0x87
        static let negate: UInt16 = 0x84
        static let jump: UInt16 = 0x05
        static let jumpEqual: UInt16 = 0x15
        static let jumpGreater: UInt16 = 0x25
        static let jumpGreaterOrEqual: UInt16 = 0x35
        static let jumpAny: UInt16 = 0x45
        static let viaX: UInt16 = 0x08
        static let answer: UInt16 = 0x06
        /// A code for a test that only the evaluator in this process understands. The kernel never receives this code.
        /// The test sets the accumulator to 1 if the packet's chain of headers contains the protocol, otherwise to 0.
        static let chain: UInt16 = 0xFFF0

        static func arithmetic(_ operation: FilterOperator) -> UInt16 {
            switch operation {
            case .add: 0x04
            case .subtract: 0x14
            case .multiply: 0x24
            case .divide: 0x34
            case .or: 0x44
            case .and: 0x54
            case .left: 0x64
            case .right: 0x74
            case .modulo: 0x94
            case .xor: 0xA4
            }
        }
    }

    /// Runs the program. A load outside the packet rejects the packet, as in the kernel.
    ///
    /// - Returns: The number of bytes to capture from the packet; 0 rejects the packet.
    @inline(__always)
    func run(_ packet: borrowing ByteView, originalCount: Int, _ facts: KernelFacts? = nil) -> UInt32 {
        switch decisions.end(packet) {
        case FilterDecision.refused: return 0
        case FilterDecision.taken: return decisions.answer
        default: return interpret(packet, originalCount: originalCount, facts)
        }
    }

    /// Runs the filter program, one instruction after another. This works for all programs and packets. The faster
    /// `decisions` work only for some.
    @inline(never)
    func interpret(_ packet: borrowing ByteView, originalCount: Int, _ facts: KernelFacts? = nil) -> UInt32 {
        let program = steps.span
        var scratch = InlineArray<16, UInt32>(repeating: 0)
        var (a, x): (UInt32, UInt32) = (0, 0)
        var position = 0
        // All jumps lead forward, so this loop always ends.
        while position < program.count {
            let instruction = program[position]
            position &+= 1
            let k = instruction.k
            switch instruction.code {
            case FilterStep.halfEqual:
                guard let value = try? packet.u16(Int(k)) else { return 0 }
                a = UInt32(value) & instruction.mask
                position = instruction.next(a & instruction.tested == instruction.value)
            case FilterStep.byteEqual:
                guard let value = (try? packet.u8(Int(k))).map(UInt32.init) ?? facts?.value(k) else { return 0 }
                a = value & instruction.mask
                position = instruction.next(a & instruction.tested == instruction.value)
            case FilterStep.wordEqual:
                guard let value = (try? packet.u32(Int(k))) ?? facts?.value(k) else { return 0 }
                a = value & instruction.mask
                position = instruction.next(a & instruction.tested == instruction.value)
            case FilterStep.halfAtXEqual:
                guard let value = try? packet.u16(Int(x &+ k)) else { return 0 }
                a = UInt32(value) & instruction.mask
                position = instruction.next(a & instruction.tested == instruction.value)
            case FilterStep.byteAtXEqual:
                guard let value = try? packet.u8(Int(x &+ k)) else { return 0 }
                a = UInt32(value) & instruction.mask
                position = instruction.next(a & instruction.tested == instruction.value)
            case Code.loadHalf:
                guard let value = try? packet.u16(Int(k)) else { return 0 }
                a = UInt32(value)
            case Code.jumpEqual: position = instruction.next(a == k)
            case Code.loadByte:
                if let value = try? packet.u8(Int(k)) {
                    a = UInt32(value)
                } else {
                    guard let value = facts?.value(k) else { return 0 }
                    a = value
                }
            case Code.loadWord:
                if let value = try? packet.u32(Int(k)) {
                    a = value
                } else {
                    guard let value = facts?.value(k) else { return 0 }
                    a = value
                }
            case Code.arithmetic(.and): a &= k
            case Code.jumpAny: position = instruction.next(a & k != 0)
            case Code.xHeaderLength:
                guard let value = try? packet.u8(Int(k)) else { return 0 }
                x = UInt32(value & 15) << 2
            case Code.loadHalfAtX:
                guard let value = try? packet.u16(Int(x &+ k)) else { return 0 }
                a = UInt32(value)
            case Code.loadByteAtX:
                guard let value = try? packet.u8(Int(x &+ k)) else { return 0 }
                a = UInt32(value)
            case Code.loadWordAtX:
                guard let value = try? packet.u32(Int(x &+ k)) else { return 0 }
                a = value
            case Code.jumpGreater: position = instruction.next(a > k)
            case Code.jumpGreaterOrEqual: position = instruction.next(a >= k)
            case Code.answer: return k
            case Code.jump: position = Int(instruction.jt)
            case Code.loadNumber: a = k
            case Code.loadLength: a = UInt32(truncatingIfNeeded: originalCount)
            case Code.loadScratch: a = scratch[Int(k & 15)]
            case Code.xScratch: x = scratch[Int(k & 15)]
            case Code.store: scratch[Int(k & 15)] = a
            case Code.storeX: scratch[Int(k & 15)] = x
            case Code.xNumber: x = k
            case Code.toX: x = a
            case Code.fromX: a = x
            case Code.negate: a = 0 &- a
            case Code.jumpEqual | Code.viaX: position = instruction.next(a == x)
            case Code.jumpGreater | Code.viaX: position = instruction.next(a > x)
            case Code.jumpGreaterOrEqual | Code.viaX: position = instruction.next(a >= x)
            case Code.chain:
                let chain = chains[Int(k)]
                a = chain.holds(packet, scratch[chain.slot ?? 0]) ? 1 : 0
            default:
                guard let result = Self.compute(instruction.code, a, instruction.code & Code.viaX != 0 ? x : k) else {
                    return 0
                }
                a = result
            }
        }
        return 0
    }

    /// Computes a binary operation; `nil` for a division by zero or an unknown operator.
    private static func compute(_ code: UInt16, _ a: UInt32, _ b: UInt32) -> UInt32? {
        switch code & ~Code.viaX {
        case Code.arithmetic(.add): return a &+ b
        case Code.arithmetic(.subtract): return a &- b
        case Code.arithmetic(.multiply): return a &* b
        case Code.arithmetic(.divide): return b == 0 ? nil : a / b
        case Code.arithmetic(.modulo): return b == 0 ? nil : a % b
        case Code.arithmetic(.and): return a & b
        case Code.arithmetic(.or): return a | b
        case Code.arithmetic(.xor): return a ^ b
        case Code.arithmetic(.left): return b > 31 ? 0 : a << b
        case Code.arithmetic(.right): return b > 31 ? 0 : a >> b
        default: return nil
        }
    }
}

extension FilterProgram.Chain {
    func holds(_ packet: borrowing ByteView, _ base: UInt32) -> Bool {
        let start = at + (slot == nil ? 0 : Int(base))
        return (try? version6 ? follow6(packet, start) : follow4(packet, start)) ?? false
    }

    private func follow4(_ packet: borrowing ByteView, _ start: Int) throws(WireError) -> Bool {
        try follow(packet, try packet.u8(start + 9), from: start + Int(try packet.u8(start) & 15) * 4)
    }
    private func follow6(_ packet: borrowing ByteView, _ start: Int) throws(WireError) -> Bool {
        try follow(packet, try packet.u8(start + 6), from: start + IPv6Header.byteCount)
    }

    /// Follows IPv6 extension headers and authentication headers until it finds the wanted protocol. Returns whether it
    /// found the protocol.
    private func follow(_ packet: borrowing ByteView, _ first: UInt8, from start: Int) throws(WireError) -> Bool {
        var (next, offset) = (first, start)
        while true {
            if UInt32(next) == proto { return true }
            switch IPProtocolNumber(rawValue: next) {
            case .hopByHopOptions, .routing, .fragment, .destinationOptions:
                guard version6 else { return false }
                let length = (Int(try packet.u8(offset + 1)) + 1) * 8
                next = try packet.u8(offset)
                offset += length
            case .authentication:
                let length = (Int(try packet.u8(offset + 1)) + 2) * 4
                next = try packet.u8(offset)
                offset += length
            default: return false
            }
        }
    }
}

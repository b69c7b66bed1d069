/// Finds filter code that checks whether a packet byte is in a small set of values.
///
/// Such code loads a byte and then compares it with each value. All values in the set lead to one position in the
/// program. All other values lead to another position.
enum FilterByteSet {
    /// The maximum number of values in a set.
    private static let capacity = 8

    /// A test of one packet byte against a set of values. `at` is the byte's offset. The program continues at `jt` if
    /// the set contains the byte, and otherwise at `jf`.
    ///
    /// There are always eight values. In a smaller set, the last value is repeated.
    typealias Found = (at: UInt32, bytes: UInt64, jt: Int, jf: Int)

    static func branch(_ instructions: [FilterInstruction], _ position: Int) -> Found? {
        let load = instructions[position]
        // Return `nil` if only one comparison follows the load, because a single comparison needs no set.
        guard load.code == FilterProgram.Code.loadByte, load.k < 1 << 20, position + 1 < instructions.count,
            isJump(instructions[position + 1]), leadsToJumps(instructions, position + 1)
        else { return nil }
        var ways: [Int: [UInt8]] = [:]
        for value in UInt8.min...UInt8.max {
            ways[way(instructions, position + 1, UInt32(value)), default: []].append(value)
            guard ways.count <= 2 else { return nil }
        }
        guard ways.count == 2, let few = ways.min(by: { $0.value.count < $1.value.count }),
            few.value.count <= Self.capacity,
            let rest = ways.keys.first(where: { $0 != few.key })
        else { return nil }
        let bytes = (0..<capacity).reduce(UInt64(0)) { $0 << 8 | UInt64(few.value[min($1, few.value.count - 1)]) }
        return (load.k, bytes, few.key, rest)
    }

    private static func isJump(_ instruction: FilterInstruction) -> Bool {
        switch instruction.code {
        case FilterProgram.Code.jumpEqual, FilterProgram.Code.jumpAny, FilterProgram.Code.jumpGreater,
            FilterProgram.Code.jumpGreaterOrEqual:
            true
        default: false
        }
    }

    private static func leadsToJumps(_ instructions: [FilterInstruction], _ position: Int) -> Bool {
        [instructions[position].jt, instructions[position].jf].contains {
            Int($0) < instructions.count && isJump(instructions[Int($0)])
        }
    }

    /// Follows the comparisons from `start` on, for one value of the byte that they test. Returns the position of the
    /// first instruction after the comparisons. The loop ends, because jumps only lead forward.
    private static func way(_ instructions: [FilterInstruction], _ start: Int, _ value: UInt32) -> Int {
        var position = start
        while position < instructions.count, isJump(instructions[position]) {
            let jump = instructions[position]
            let holds =
                switch jump.code {
                case FilterProgram.Code.jumpEqual: value == jump.k
                case FilterProgram.Code.jumpAny: value & jump.k != 0
                case FilterProgram.Code.jumpGreater: value > jump.k
                default: value >= jump.k
                }
            position = Int(holds ? jump.jt : jump.jf)
        }
        return position
    }
}

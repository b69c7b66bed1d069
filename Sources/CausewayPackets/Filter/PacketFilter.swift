package import CausewayWire

/// Settings for compiling a filter expression.
package struct FilterSettings: Sendable {
    /// The network's netmask, for `ip broadcast`.
    package var netmask: UInt32?
    /// Resolves a host name to its addresses. By default no name resolves: a filter makes no look-ups.
    package var resolve: @Sendable (String) -> [InternetAddress] = { _ in [] }
    /// The maximum number of bytes to capture from a matching packet (snap length).
    package var snapLength: UInt32 = 262_144
    /// Whether the filter runs in the kernel. The kernel knows the direction and the interface of each packet, so such
    /// a filter may test them.
    package var isLive = false

    package init() {}
}

/// A packet filter in libpcap's language (`tcp port 80 and not host 10.0.0.1`), compiled for one link type.
///
/// ```swift
/// let filter = try PacketFilter("udp port 53 or icmp", linkType: .ethernet)
/// if filter.matches(bytes) { ... }
/// ```
///
/// Hosts joined by "or" become a binary search: a test for hundreds of hosts takes a few comparisons.
public struct PacketFilter: Hashable, Sendable {
    /// The compiled expression.
    public let expression: String
    /// The filter's link type.
    public let linkType: LinkType
    let node: FilterNode
    let program: FilterProgram

    /// Compiles an expression. An empty expression matches every packet.
    ///
    /// - Throws: ``FilterError`` with the position and what was expected there.
    public init(_ expression: String, linkType: LinkType) throws(FilterError) {
        try self.init(expression, linkType: linkType, FilterSettings())
    }

    package init(_ expression: String, linkType: LinkType, _ settings: FilterSettings) throws(FilterError) {
        let layout = FilterLayout(linkType, isLive: settings.isLive)
        var parser = try FilterParser(expression, layout, settings)
        let node = layout.prologue.completed(try parser.parse().optimized).optimized
        if node == .constant(false) {
            throw FilterError("the expression matches no packet of link type \(linkType.name)", at: 0)
        }
        guard let program = FilterGenerator.program(node, keeping: settings.snapLength) else {
            throw FilterError("the expression is too complex", at: 0)
        }
        self.expression = expression
        self.linkType = linkType
        self.node = node
        self.program = program
    }

    /// Returns whether a packet matches. A packet does not match if the filter loads bytes beyond its end.
    public func matches(_ packet: borrowing ByteView, originalCount: Int? = nil) -> Bool {
        let end = program.decisions.end(packet)
        if _fastPath(end != FilterDecision.open) { return end == FilterDecision.taken }
        return interprets(packet, originalCount)
    }

    /// Runs the filter program. This is a separate function, because inlined code would copy the program for every
    /// packet.
    @inline(never)
    private func interprets(_ packet: borrowing ByteView, _ originalCount: Int?) -> Bool {
        program.interpret(packet, originalCount: originalCount ?? packet.count) != 0
    }

    /// Returns whether a packet from a live capture matches, with the kernel's metadata.
    ///
    /// - Parameter direction: The packet type as in Linux's cooked headers; 4 is a packet that this host sent.
    package func matches(
        _ packet: borrowing ByteView, originalCount: Int, direction: UInt8, interface: UInt32
    ) -> Bool {
        let facts = FilterProgram.KernelFacts(direction: direction, interface: interface)
        return program.run(packet, originalCount: originalCount, facts) != 0
    }

    /// The number of instructions in the program.
    public var instructionCount: Int { program.instructions.count }

    /// The kernel's maximum instruction count.
    public static let kernelLimit = 4096

    /// The program for the kernel: code, jumps and operand for each instruction.
    ///
    /// `nil` if the kernel cannot run the filter: the program is too long, or the expression uses `protochain`.
    public var kernelProgram: [(code: UInt16, jt: UInt8, jf: UInt8, k: UInt32)]? {
        guard program.chains.isEmpty else { return nil }
        return KernelProgram.make(program.instructions)
    }

    /// A text that shows the filter's expression tree and its BPF program.
    public var explanation: String {
        var text = node.lines(0).joined(separator: "\n") + "\n\n"
        for (index, instruction) in program.instructions.enumerated() {
            text += instruction.text(index) + "\n"
        }
        if kernelProgram == nil { text += "\nThe kernel cannot run this program: the filter runs in user space.\n" }
        return text
    }
}

/// Converts programs to kernel instructions. Classic BPF has one byte for the distance of a conditional jump: a longer
/// jump needs an extra unconditional jump.
enum KernelProgram {
    /// The largest conditional jump distance.
    private static let longestJump = Int(UInt8.max)

    static func make(_ code: [FilterInstruction]) -> [(code: UInt16, jt: UInt8, jf: UInt8, k: UInt32)]? {
        guard code.count <= PacketFilter.kernelLimit else { return nil }
        // The indices of conditional jumps whose true or false target is too far away.
        //
        // After such an instruction, an unconditional jump to the target is inserted. This moves all later
        // instructions, so other jumps can become too long. Repeat until no index is added.
        var longTrue = Set<Int>()
        var longFalse = Set<Int>()
        while true {
            let place = places(code, longTrue, longFalse)
            var isStable = true
            for (index, instruction) in code.enumerated() where isConditional(instruction) {
                let next = place[index] + 1
                if !longTrue.contains(index), place[Int(instruction.jt)] - next > Self.longestJump {
                    longTrue.insert(index)
                    isStable = false
                }
                if !longFalse.contains(index), place[Int(instruction.jf)] - next > Self.longestJump {
                    longFalse.insert(index)
                    isStable = false
                }
            }
            if isStable { return assemble(code, place, longTrue, longFalse) }
        }
    }

    private static func isConditional(_ instruction: FilterInstruction) -> Bool {
        instruction.isJump && instruction.code != FilterProgram.Code.jump
    }

    private static func places(_ code: [FilterInstruction], _ longTrue: Set<Int>, _ longFalse: Set<Int>) -> [Int] {
        var place: [Int] = []
        var next = 0
        for index in code.indices {
            place.append(next)
            next += 1 + (longTrue.contains(index) ? 1 : 0) + (longFalse.contains(index) ? 1 : 0)
        }
        return place + [next]
    }

    private static func assemble(
        _ code: [FilterInstruction], _ place: [Int], _ longTrue: Set<Int>, _ longFalse: Set<Int>
    ) -> [(code: UInt16, jt: UInt8, jf: UInt8, k: UInt32)]? {
        var result: [(code: UInt16, jt: UInt8, jf: UInt8, k: UInt32)] = []
        for (index, instruction) in code.enumerated() {
            let next = place[index] + 1
            guard isConditional(instruction) else {
                let k =
                    instruction.code == FilterProgram.Code.jump
                    ? UInt32(place[Int(instruction.jt)] - next) : instruction.k
                result.append((instruction.code, 0, 0, k))
                continue
            }
            var jumps: [Int] = []
            func distance(_ target: Int32, _ isLong: Bool) -> UInt8 {
                guard isLong else { return UInt8(place[Int(target)] - next) }
                jumps.append(place[Int(target)] - (next + jumps.count + 1))
                return UInt8(jumps.count - 1)
            }
            let jt = distance(instruction.jt, longTrue.contains(index))
            let jf = distance(instruction.jf, longFalse.contains(index))
            result.append((instruction.code, jt, jf, instruction.k))
            for jump in jumps { result.append((FilterProgram.Code.jump, 0, 0, UInt32(jump))) }
        }
        return result.count <= PacketFilter.kernelLimit ? result : nil
    }
}

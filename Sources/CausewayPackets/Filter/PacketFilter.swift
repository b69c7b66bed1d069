package import CausewayWire

/// What an expression may refer to besides packets.
package struct FilterSettings: Sendable {
    /// The network's mask, for `ip broadcast`.
    package var netmask: UInt32?
    /// Asked for the addresses of a host by name. Nothing is known by default: a filter makes no look-ups by itself.
    package var resolve: @Sendable (String) -> [InternetAddress] = { _ in [] }
    /// Bytes that the program says to keep of a packet that matches.
    package var snapLength: UInt32 = 262_144
    /// The filter is for the kernel, which can be asked for direction and interface.
    package var isLive = false

    package init() {}
}

/// A filter in the language of pcap (`tcp port 80 and not host 10.0.0.1`), for one link type.
///
/// ```swift
/// let filter = try PacketFilter("udp port 53 or icmp", linkType: .ethernet)
/// if filter.matches(bytes) { ... }
/// ```
///
/// Many hosts joined by "or" are searched as a tree, so that hundreds cost no more than a few comparisons.
public struct PacketFilter: Hashable, Sendable {
    public let expression: String
    public let linkType: LinkType
    let node: FilterNode
    let program: FilterProgram

    /// Compiles an expression; an empty one matches everything.
    ///
    /// - Throws: ``FilterError``, which tells the place and what was expected there.
    public init(_ expression: String, linkType: LinkType) throws(FilterError) {
        try self.init(expression, linkType: linkType, FilterSettings())
    }

    package init(_ expression: String, linkType: LinkType, _ settings: FilterSettings) throws(FilterError) {
        let layout = FilterLayout(linkType, isLive: settings.isLive)
        var parser = try FilterParser(expression, layout, settings)
        let node = layout.completed(try parser.parse().optimized).optimized
        if node == .constant(false) {
            throw FilterError("the expression matches no packet of link type \(linkType.name)", at: 0)
        }
        guard let program = FilterGenerator.program(node, keeping: settings.snapLength) else {
            throw FilterError("the computation is too deep", at: 0)
        }
        self.expression = expression
        self.linkType = linkType
        self.node = node
        self.program = program
    }

    /// Whether a packet matches. What lies behind its end refuses it.
    public func matches(_ packet: borrowing ByteView, originalCount: Int? = nil) -> Bool {
        let end = program.decisions.end(packet)
        if _fastPath(end != FilterDecision.open) { return end == FilterDecision.taken }
        return interprets(packet, originalCount)
    }

    /// By itself, and of the whole filter: the program would be copied for it, packet by packet, whether that is needed or not.
    @inline(never)
    private func interprets(_ packet: borrowing ByteView, _ originalCount: Int?) -> Bool {
        program.interpret(packet, originalCount: originalCount ?? packet.count) != 0
    }

    /// The same for a packet of a live capture, of which the kernel tells more than its bytes.
    ///
    /// - Parameter direction: As in Linux's cooked headers: 4 for what this host sent.
    package func matches(
        _ packet: borrowing ByteView, originalCount: Int, direction: UInt8, interface: UInt32
    ) -> Bool {
        let facts = FilterProgram.KernelFacts(direction: direction, interface: interface)
        return program.run(packet, originalCount: originalCount, facts) != 0
    }

    /// How many instructions the filter has.
    public var instructionCount: Int { program.instructions.count }

    /// The kernel's limit.
    public static let kernelLimit = 4096

    /// The program as the kernel takes it: code, jumps and operand of each instruction; `nil` where it must run here: too long, or
    /// with `protochain`.
    public var kernelProgram: [(code: UInt16, jt: UInt8, jf: UInt8, k: UInt32)]? {
        guard program.chains.isEmpty else { return nil }
        return KernelProgram.make(program.instructions)
    }

    /// The tree and the program, as text for people.
    public var explanation: String {
        var text = node.lines(0).joined(separator: "\n") + "\n\n"
        for (index, instruction) in program.instructions.enumerated() {
            text += instruction.text(index) + "\n"
        }
        if kernelProgram == nil { text += "\nThe kernel cannot run this program: it runs outside of it.\n" }
        return text
    }
}

/// Classic BPF has one byte for a conditional jump: longer ones go by way of an unconditional one.
enum KernelProgram {
    static func make(_ code: [FilterInstruction]) -> [(code: UInt16, jt: UInt8, jf: UInt8, k: UInt32)]? {
        guard code.count <= PacketFilter.kernelLimit else { return nil }
        // Which instructions need a long jump behind them, for either branch. Each addition moves what follows, so repeat.
        var longTrue = Set<Int>()
        var longFalse = Set<Int>()
        while true {
            let place = places(code, longTrue, longFalse)
            var isStable = true
            for (index, instruction) in code.enumerated() where isConditional(instruction) {
                let next = place[index] + 1
                if !longTrue.contains(index), place[Int(instruction.jt)] - next > 255 {
                    longTrue.insert(index)
                    isStable = false
                }
                if !longFalse.contains(index), place[Int(instruction.jf)] - next > 255 {
                    longFalse.insert(index)
                    isStable = false
                }
            }
            if isStable { return assemble(code, place, longTrue, longFalse) }
        }
    }

    private static func isConditional(_ instruction: FilterInstruction) -> Bool {
        instruction.code & 7 == 5 && instruction.code != FilterProgram.Code.jump
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

/// Filter code that runs before the filter's main expression. It computes offsets in the packet, and stores them in BPF
/// scratch memory.
struct FilterPrologue: Sendable {
    /// The number of scratch memory slots that the code uses so far.
    private(set) var slotCount = 0
    /// For each slot (word) of scratch memory, the filter code that computes the packet offset to store there.
    private var marks: [(slot: Int, node: FilterNode)] = []
    /// A condition that every matching packet must satisfy.
    private var condition: FilterNode?

    /// Reserves consecutive slots of scratch memory.
    ///
    /// - Returns: The first slot.
    @discardableResult
    mutating func reserve(_ count: Int = 1) -> Int {
        defer { slotCount += count }
        return slotCount
    }

    /// Adds code that computes a position and stores it in the given scratch memory slot. The code may use slots for
    /// which code was added earlier.
    mutating func add(_ slot: Int, _ node: FilterNode) { marks.append((slot, node)) }

    /// Sets the condition that every matching packet must satisfy.
    mutating func require(_ node: FilterNode) { condition = node }

    /// Adds code before the expression. The code computes all packet positions that the expression uses.
    func completed(_ node: FilterNode) -> FilterNode {
        var used = node.slots
        for mark in marks.reversed() where used.contains(mark.slot) { used.formUnion(mark.node.slots) }
        let first = marks.filter { used.contains($0.slot) }.map(\.node) + (condition.map { [$0] } ?? [])
        return first.isEmpty ? node : .all(first + [node])
    }
}

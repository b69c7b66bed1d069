/// The code that a filter runs before its expression. The code computes packet positions, and stores them in BPF
/// scratch memory.
struct FilterPrologue: Sendable {
    /// The number of slots of scratch memory in use.
    private(set) var slotCount = 0
    /// For each word (slot) of BPF scratch memory, the code to compute the packet offset in that word.
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

    /// Adds code that computes a position and stores it in a slot of scratch memory. The code may read slots whose code
    /// was added before.
    mutating func add(_ slot: Int, _ node: FilterNode) { marks.append((slot, node)) }

    /// Sets the condition that every matching packet must satisfy.
    mutating func require(_ node: FilterNode) { condition = node }

    /// Prepends the code for all positions that an expression uses.
    func completed(_ node: FilterNode) -> FilterNode {
        var used = node.slots
        for mark in marks.reversed() where used.contains(mark.slot) { used.formUnion(mark.node.slots) }
        let first = marks.filter { used.contains($0.slot) }.map(\.node) + (condition.map { [$0] } ?? [])
        return first.isEmpty ? node : .all(first + [node])
    }
}

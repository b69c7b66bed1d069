internal import HeapModule

/// Times by which somebody must be seen to: the next one at once, changes in logarithmic time.
///
/// What is due at one time comes in the order in which it was set. Holds at most twice as much as it has members.
struct DeadlineIndex<ID: Hashable & Sendable>: Sendable {
    private struct Moment: Sendable {
        var time: Duration
        var serial: UInt64
    }

    private struct Item: Comparable, Sendable {
        var moment: Moment
        var id: ID

        static func < (left: Item, right: Item) -> Bool {
            (left.moment.time, left.moment.serial) < (right.moment.time, right.moment.serial)
        }
        static func == (left: Item, right: Item) -> Bool { left.moment.serial == right.moment.serial }
    }

    private var items = Heap<Item>()
    /// The item that counts for each member; others in the heap are past.
    private var current: [ID: Moment] = [:]
    private var serial: UInt64 = 0
    /// Room that stays when the last member goes.
    private static var keptCapacity: Int { 512 }

    init() {}

    var isEmpty: Bool { current.isEmpty }
    var count: Int { current.count }

    /// The first of all times. The first item always counts: every change sees to that.
    var next: Duration? { items.min?.moment.time }

    /// Whose turn is first.
    var first: ID? { items.min?.id }

    subscript(id: ID) -> Duration? {
        get { current[id]?.time }
        set {
            guard newValue != current[id]?.time else { return }
            if let newValue {
                serial += 1
                let moment = Moment(time: newValue, serial: serial)
                current[id] = moment
                items.insert(Item(moment: moment, id: id))
            } else {
                current[id] = nil
            }
            tidy()
        }
    }

    /// Takes out one member whose time has come.
    mutating func popDue(at now: Duration) -> ID? {
        guard let first = items.min, first.moment.time <= now else { return nil }
        current[first.id] = nil
        tidy()
        return first.id
    }

    /// Takes out all members whose time has come.
    mutating func takeDue(at now: Duration) -> [ID] {
        var due: [ID] = []
        while let id = popDue(at: now) { due.append(id) }
        return due
    }

    private mutating func tidy() {
        while let first = items.min, current[first.id]?.serial != first.moment.serial { _ = items.popMin() }
        // Who moves times about often must not make the heap grow.
        if items.count > 2 * current.count + 64 { items = Heap(current.map { Item(moment: $1, id: $0) }) }
        // Of a crowd that has gone nothing is kept.
        if current.isEmpty, current.capacity > Self.keptCapacity { (items, current) = (Heap(), [:]) }
    }
}

/// When to give up waiting for each of many probes, to ten milliseconds; nothing waits longer than a turn of the wheel.
struct ExpiryWheel: Sendable {
    struct Entry: Sendable {
        var probe: UInt32
        var attempt: UInt8
    }

    static let slot: Int64 = 10_000
    private static let count = 512
    /// The longest that an entry may lie ahead, in microseconds.
    static let reach = slot * Int64(count - 2)

    private var slots: [[Entry]] = Array(repeating: [], count: count)
    /// The number of the first slot that was not taken yet.
    private var current: Int64 = 0
    private var held = 0

    mutating func add(_ entry: Entry, at time: Int64) {
        let slot = min(max((time + Self.slot - 1) / Self.slot, current), current + Int64(Self.count - 1))
        slots[Int(slot % Int64(Self.count))].append(entry)
        held += 1
    }

    /// Takes what has expired by now.
    mutating func take(_ now: Int64, into expired: inout [Entry]) {
        let last = now / Self.slot
        guard held > 0 else {
            current = max(current, last + 1)
            return
        }
        while current <= last {
            let index = Int(current % Int64(Self.count))
            if !slots[index].isEmpty {
                held -= slots[index].count
                expired += slots[index]
                slots[index].removeAll(keepingCapacity: true)
                if held == 0 {
                    current = last
                }
            }
            current += 1
        }
    }

    /// Takes everything, to be put in again.
    mutating func takeAll() -> [Entry] {
        var all: [Entry] = []
        all.reserveCapacity(held)
        for index in slots.indices {
            all += slots[index]
            slots[index].removeAll(keepingCapacity: true)
        }
        held = 0
        return all
    }

    /// When to look again, or `nil` when nothing is held.
    var next: Int64? {
        guard held > 0 else { return nil }
        for ahead in 0..<Int64(Self.count) where !slots[Int((current + ahead) % Int64(Self.count))].isEmpty {
            return (current + ahead) * Self.slot
        }
        return nil
    }
}

/// How urgently an image is needed. It can change while the image is loaded.
public enum ImagePriority: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// The image may be needed later.
    case prefetch
    case low
    case normal
    case high
    /// The image is visible to the user.
    case immediate

    /// Compares the urgency.
    public static func < (a: ImagePriority, b: ImagePriority) -> Bool { a.rawValue < b.rawValue }
}

/// A priority queue for jobs. A limited number of jobs run at a time. The most urgent jobs start first; jobs of equal
/// priority start in arrival order.
package struct AdmissionLine: Sendable {
    package typealias ID = UInt64

    /// An entry for a job in the queue of one priority. If the job's priority changes, the job gets a new entry, and
    /// this entry is outdated.
    private struct Turn: Equatable, Sendable {
        var id: ID
        var number: UInt64
        var priority: ImagePriority
    }

    private struct Lane: Sendable {
        /// Entries in the order of arrival. Some entries are outdated, because their job was cancelled or has a newer
        /// entry. Outdated entries are removed at their turn, or when there are too many of them.
        var order: [Turn] = []
        var start = 0
    }

    /// The maximum number of running jobs.
    package let limit: Int
    private var runningCount = 0
    private var lanes = [Lane](repeating: Lane(), count: ImagePriority.allCases.count)
    private var waiting: [ID: Turn] = [:]
    private var turnCount: UInt64 = 0

    package init(limit: Int) { self.limit = max(limit, 1) }

    /// The number of waiting jobs.
    package var waitingCount: Int { waiting.count }

    /// The number of stored entries, for tests.
    package var turnsKept: Int { lanes.reduce(0) { $0 + $1.order.count } }

    /// Returns whether a new job may run at once. Otherwise it waits.
    package mutating func arrived(_ id: ID, _ priority: ImagePriority) -> Bool {
        if runningCount < limit {
            runningCount += 1
            return true
        }
        queue(id, priority)
        return false
    }

    /// Changes a waiting job's priority. The job then runs after the jobs that already have this priority.
    package mutating func prioritize(_ id: ID, _ priority: ImagePriority) {
        guard let turn = waiting[id], turn.priority != priority else { return }
        queue(id, priority)
    }

    private mutating func queue(_ id: ID, _ priority: ImagePriority) {
        turnCount += 1
        let turn = Turn(id: id, number: turnCount, priority: priority)
        waiting[id] = turn
        lanes[priority.rawValue].order.append(turn)
        let lane = lanes[priority.rawValue]
        // Remove outdated entries, because a job whose priority changes again and again adds an entry each time.
        guard lane.order.count - lane.start > 2 * waiting.count + 64 else { return }
        lanes[priority.rawValue] = Lane(order: lane.order[lane.start...].filter { waiting[$0.id] == $0 })
    }

    /// Removes a cancelled job. Returns whether it was waiting.
    package mutating func abandoned(_ id: ID) -> Bool { waiting.removeValue(forKey: id) != nil }

    /// Ends a running job.
    ///
    /// - Returns: The next job to run.
    package mutating func ended() -> ID? {
        runningCount -= 1
        for priority in ImagePriority.allCases.reversed() {
            while let turn = pop(priority.rawValue) {
                guard waiting[turn.id] == turn else { continue }
                waiting[turn.id] = nil
                runningCount += 1
                return turn.id
            }
        }
        return nil
    }

    private mutating func pop(_ lane: Int) -> Turn? {
        let start = lanes[lane].start
        guard start < lanes[lane].order.count else { return nil }
        let turn = lanes[lane].order[start]
        lanes[lane].start += 1
        if start > 64, start * 2 > lanes[lane].order.count {
            lanes[lane].order.removeFirst(start + 1)
            lanes[lane].start = 0
        }
        return turn
    }
}

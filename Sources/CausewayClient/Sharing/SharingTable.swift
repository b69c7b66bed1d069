/// Records which callers wait for which work.
///
/// All callers that wait for the same work form a group. A caller that runs the work itself is not listed in its group,
/// because it knows the group.
///
/// The table runs no work. ``SharedWork`` starts and cancels the work, and resumes the callers that the table returns.
struct SharingTable<Key: Hashable & Sendable>: Sendable {
    typealias GroupID = UInt64
    typealias CallerID = UInt64

    /// What the end of one caller's waiting means for the shared work.
    enum Departure: Equatable, Sendable {
        /// The caller was no longer waiting: it has already been resumed. Nothing changes for the work.
        case none
        /// Other callers are still waiting for the same work, so the work continues.
        case othersWait
        /// Nothing waits for the work. Cancel it.
        case abandoned(GroupID)
    }

    private struct Group: Sendable {
        var key: Key
        var callers: Set<CallerID> = []
        /// Whether a caller runs the work in its own task. Otherwise, the work runs in a separate task.
        var hasRunner: Bool

        var isWanted: Bool { hasRunner || !callers.isEmpty }
    }

    private var groups: [GroupID: Group] = [:]
    /// For each key, the group to which a new caller is added.
    private var open: [Key: GroupID] = [:]
    private var places: [CallerID: GroupID] = [:]
    private var lastGroup: GroupID = 0
    private var runnerCount = 0

    /// The number of callers that wait for shared work or run it.
    var callerCount: Int { places.count + runnerCount }

    /// Adds a caller to the group that waits for the work with this key. Creates the group if necessary.
    ///
    /// - Returns: The group, and whether it is new. The work of a new group must then be started.
    mutating func join(_ key: Key, as caller: CallerID) -> (group: GroupID, isNew: Bool) {
        let known = open[key]
        let group = known ?? makeGroup(key, hasRunner: false)
        groups[group]?.callers.insert(caller)
        places[caller] = group
        return (group, known == nil)
    }

    /// Adds a caller that runs the work of a new group. Returns `nil` if there is a group with the same key that still
    /// accepts callers.
    mutating func open(_ key: Key) -> GroupID? {
        guard open[key] == nil else { return nil }
        runnerCount += 1
        return makeGroup(key, hasRunner: true)
    }

    private mutating func makeGroup(_ key: Key, hasRunner: Bool) -> GroupID {
        lastGroup += 1
        groups[lastGroup] = Group(key: key, hasRunner: hasRunner)
        open[key] = lastGroup
        return lastGroup
    }

    /// Removes a caller whose task was cancelled.
    mutating func leave(_ caller: CallerID) -> Departure {
        guard let id = places.removeValue(forKey: caller) else { return .none }
        return depart(id) { $0.callers.remove(caller) }
    }

    /// Removes a cancelled caller whose task ran the work. If the result is `othersWait`, the work must be run again
    /// for the other callers.
    mutating func runnerLeft(_ id: GroupID) -> Departure {
        runnerCount -= 1
        return depart(id) { $0.hasRunner = false }
    }

    private mutating func depart(_ id: GroupID, _ remove: (inout Group) -> Void) -> Departure {
        guard var group = groups.removeValue(forKey: id) else { return .none }
        remove(&group)
        guard !group.isWanted else {
            groups[id] = group
            return .othersWait
        }
        close(group.key, id)
        return .abandoned(id)
    }

    /// Ends a group, because its work has ended.
    ///
    /// - Returns: The callers to resume, except the caller that ran the work; none if the group has already ended.
    mutating func ended(_ id: GroupID) -> Set<CallerID> {
        guard let group = groups.removeValue(forKey: id) else { return [] }
        if group.hasRunner { runnerCount -= 1 }
        for caller in group.callers { places[caller] = nil }
        close(group.key, id)
        return group.callers
    }

    /// Returns whether callers wait for a group.
    func isWanted(_ id: GroupID) -> Bool { groups[id] != nil }

    /// Closes all groups to new callers, because the groups' results may be out of date. Waiting callers still receive
    /// the results.
    mutating func closeAll() { open = [:] }

    private mutating func close(_ key: Key, _ id: GroupID) {
        if open[key] == id { open[key] = nil }
    }
}

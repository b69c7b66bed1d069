/// Which callers wait for which work: equal work in progress has one group, in which each caller has a place.
///
/// The table runs nothing. Its owner starts and cancels the work and resumes the callers, as the results tell.
struct SharingTable<Key: Hashable & Sendable>: Sendable {
    typealias GroupID = UInt64
    typealias CallerID = UInt64

    /// The consequence of a caller leaving.
    enum Departure: Equatable, Sendable {
        /// The caller does not wait: it has already been resumed.
        case none
        /// Others wait for the same work.
        case othersWait
        /// Nothing waits for the work. Cancel it.
        case abandoned(GroupID)
    }

    private struct Group: Sendable {
        var key: Key
        var callers: Set<CallerID>
    }

    private var groups: [GroupID: Group] = [:]
    /// The groups that accept callers.
    private var open: [Key: GroupID] = [:]
    private var places: [CallerID: GroupID] = [:]
    private var lastGroup: GroupID = 0

    /// The number of callers that wait.
    var callerCount: Int { places.count }

    /// Adds a caller.
    ///
    /// - Returns: The group, and whether it is new, so that its work must be started.
    mutating func join(_ key: Key, as caller: CallerID) -> (group: GroupID, isNew: Bool) {
        if let group = open[key] {
            groups[group]?.callers.insert(caller)
            places[caller] = group
            return (group, false)
        }
        return (makeGroup(key, caller), true)
    }

    /// Adds a caller in a new group; returns `nil` if a group with the key accepts callers.
    mutating func open(_ key: Key, as caller: CallerID) -> GroupID? {
        open[key] == nil ? makeGroup(key, caller) : nil
    }

    private mutating func makeGroup(_ key: Key, _ caller: CallerID) -> GroupID {
        lastGroup += 1
        groups[lastGroup] = Group(key: key, callers: [caller])
        open[key] = lastGroup
        places[caller] = lastGroup
        return lastGroup
    }

    /// Removes a caller that was cancelled.
    mutating func leave(_ caller: CallerID) -> Departure {
        guard let id = places.removeValue(forKey: caller), var group = groups.removeValue(forKey: id) else {
            return .none
        }
        group.callers.remove(caller)
        guard group.callers.isEmpty else {
            groups[id] = group
            return .othersWait
        }
        close(group.key, id)
        return .abandoned(id)
    }

    /// Ends a group.
    ///
    /// - Returns: The callers to resume; none if the group has already ended.
    mutating func ended(_ id: GroupID) -> Set<CallerID> {
        guard let group = groups.removeValue(forKey: id) else { return [] }
        for caller in group.callers { places[caller] = nil }
        close(group.key, id)
        return group.callers
    }

    /// Returns whether callers wait for a group.
    func isWanted(_ id: GroupID) -> Bool { groups[id] != nil }

    /// Closes all groups to further callers, because the results may be out of date. Those that wait still get theirs.
    mutating func closeAll() { open = [:] }

    private mutating func close(_ key: Key, _ id: GroupID) {
        if open[key] == id { open[key] = nil }
    }
}

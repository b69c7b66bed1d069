internal import CausewayTypes
internal import CausewayWire

/// The service instances that a search has found on permitted interfaces, and the changes that the program has not
/// received yet.
struct FoundServices: Sendable {
    struct Instance: Sendable {
        /// The interfaces on which the instance was found. A service in a unicast domain has one entry, `nil`.
        fileprivate(set) var interfaces: [NWInterface?] = []
        /// The latest TXT record of each interface, the latest of all at the end.
        fileprivate var texts: [(interface: NWInterface?, text: NWTXTRecord)] = []

        /// The latest TXT record; `nil` before the first one.
        var text: NWTXTRecord? { texts.last?.text }
    }

    /// The indices of the permitted interfaces; `nil` if all are permitted.
    private(set) var permitted: Set<Int>?
    private var instances: [DNSName: Instance] = [:]
    /// The instances that have changed since the latest report to the program.
    private var changed: Set<DNSName> = []

    init(permitted: Set<Int>? = nil) {
        self.permitted = permitted
    }

    func holds(_ name: DNSName) -> Bool { instances[name] != nil }

    /// Whether records that were found on an interface count. Records from DNS servers have no interface.
    private func permits(_ interface: NWInterface?) -> Bool {
        guard let permitted, let interface else { return true }
        return permitted.contains(interface.index)
    }

    // MARK: Changes

    /// Notes that an instance was found. Returns whether it is new.
    mutating func appeared(_ name: DNSName, on interface: NWInterface?) -> Bool {
        guard permits(interface) else { return false }
        let isNew = instances[name] == nil
        var instance = instances[name] ?? Instance()
        if !instance.interfaces.contains(interface) { instance.interfaces.append(interface) }
        instances[name] = instance
        changed.insert(name)
        return isNew
    }

    /// Notes that an instance has disappeared from an interface. Returns whether it was its only interface.
    mutating func disappeared(_ name: DNSName, from interface: NWInterface?) -> Bool {
        guard var instance = instances[name], instance.interfaces.contains(interface) else { return false }
        instance.interfaces.removeAll { $0 == interface }
        // The TXT record of another interface may arrive later. Until then, the program keeps this one.
        if instance.texts.count > 1 { instance.texts.removeAll { $0.interface == interface } }
        return replace(name, by: instance)
    }

    /// Notes an instance's TXT record.
    mutating func described(_ name: DNSName, by text: NWTXTRecord, on interface: NWInterface?) {
        guard permits(interface), var instance = instances[name] else { return }
        instance.texts.removeAll { $0.interface == interface }
        instance.texts.append((interface, text))
        _ = replace(name, by: instance)
    }

    /// Changes the permitted interfaces. Forgets what was found on other interfaces.
    ///
    /// - Returns: The instances that were not found on a permitted interface.
    mutating func permit(only interfaces: Set<Int>) -> [DNSName] {
        permitted = interfaces
        var gone: [DNSName] = []
        for (name, found) in instances {
            var instance = found
            instance.interfaces.removeAll { !permits($0) }
            instance.texts.removeAll { !permits($0.interface) }
            let isSame =
                instance.interfaces.count == found.interfaces.count && instance.texts.count == found.texts.count
            if !isSame, replace(name, by: instance) { gone.append(name) }
        }
        return gone
    }

    /// Stores an instance's new state, or removes the instance if it has no interface. Returns whether it was removed.
    private mutating func replace(_ name: DNSName, by instance: Instance) -> Bool {
        let isGone = instance.interfaces.isEmpty
        instances[name] = isGone ? nil : instance
        changed.insert(name)
        return isGone
    }

    mutating func removeAll() { (instances, changed) = ([:], []) }

    // MARK: Reports

    /// Returns the instances that have changed since the previous call; `nil` for an instance that has disappeared.
    mutating func takeChanged() -> [(DNSName, Instance?)] {
        defer { changed = [] }
        return changed.map { ($0, instances[$0]) }
    }
}

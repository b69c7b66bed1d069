/// The interfaces on which each discovered element, such as a service or an address, was found.
///
/// A host can be connected to one network by two interfaces, for example by a cable and by Wi-Fi. The program is
/// therefore notified only when an element is found on the first interface, and when it is gone from the last
/// interface.
struct FoundElements<Element: Hashable & Sendable>: Sendable {
    /// For each element, the indices of the interfaces on which it was found.
    private var interfaces: [Element: Set<Int>] = [:]

    /// Processes a change on one interface. Returns the change for the program; `nil` if the element remains available.
    mutating func changed(
        _ change: ServiceDiscovery.Change<Element>, on interface: Int
    ) -> ServiceDiscovery.Change<Element>? {
        switch change {
        case .added(let element):
            let isNew = interfaces[element] == nil
            interfaces[element, default: []].insert(interface)
            return isNew ? change : nil
        case .removed(let element):
            interfaces[element]?.remove(interface)
            guard interfaces[element]?.isEmpty ?? true else { return nil }
            interfaces[element] = nil
            return change
        }
    }
}

internal import CausewayTypes
package import CausewayWire

/// Finds the wireless interfaces. This type asks the kernel's wireless subsystem (nl80211).
///
/// The `/sys` file system has the same information, but only for the network namespace in which it was mounted. Many
/// containers do not mount it.
package enum WirelessInterfaces {
    /// Returns the wireless interfaces' indices; an empty set if the kernel has no wireless subsystem.
    package static func current() -> Set<Int> {
        guard var socket = try? NetlinkSocket(generic: ()),
            let family = try? socket.family(named: WirelessInterface.familyName),
            let found = try? socket.ask(.wirelessInterfaces(family), pick: { WirelessInterface($0) })
        else { return [] }
        return Set(found.map(\.index))
    }
}

extension NWInterface {
    /// Creates an interface from a link that the kernel has listed. Also determines the interface's type.
    ///
    /// - Parameters:
    ///   - link: The kernel's link.
    ///   - radios: A cache with the indices of all wireless interfaces. Pass `nil` for the first link. The initializer
    ///     fills the cache when it first needs the indices.
    package init?(_ link: NetlinkLink, radios: inout Set<Int>?) {
        self.init(index: link.index)
        guard InterfaceOverrides.current[name].type == nil, type == .wiredEthernet || type == .other,
            link.canBeWireless
        else { return }
        let known = radios ?? WirelessInterfaces.current()
        radios = known
        if known.contains(link.index) { self = NWInterface(name: name, index: index, type: .wifi) }
    }
}

extension NetlinkLink {
    /// Whether the interface may be wireless: it has the hardware type Ethernet and is not virtual.
    fileprivate var canBeWireless: Bool { hardwareType == 1 && kind == nil }
}

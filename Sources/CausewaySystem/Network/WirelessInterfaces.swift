internal import CausewayTypes
package import CausewayWire

/// Which interfaces are radios for wireless networks, as the kernel's wireless subsystem knows.
///
/// `/sys` tells as well, but only of the network namespace that it was mounted in, and containers often have none.
package enum WirelessInterfaces {
    /// The indices of those there are; none where the kernel has no wireless subsystem.
    package static func current() -> Set<Int> {
        guard var socket = try? NetlinkSocket(generic: ()),
            let family = try? socket.family(named: WirelessInterface.familyName),
            let found = try? socket.ask(.wirelessInterfaces(family), pick: { WirelessInterface($0) })
        else { return [] }
        return Set(found.map(\.index))
    }
}

extension NWInterface {
    /// Looks an interface up that the kernel has listed.
    ///
    /// - Parameter radios: Those there are, once they have been asked for: that is done where the type is not clear without.
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
    /// Ethernet to the kernel, and no kind of interface that programs make.
    fileprivate var canBeWireless: Bool { hardwareType == 1 && kind == nil }
}

/// A Wi-Fi interface, as the generic netlink family `nl80211` lists it.
package struct WirelessInterface: Hashable, Sendable {
    /// The interface index.
    package var index: Int

    /// The generic netlink family name.
    package static let familyName = "nl80211"

    /// Parses a reply to ``GenericNetlinkRequest/wirelessInterfaces(_:)``. Returns `nil` for a radio without a network interface.
    package init?(_ message: GenericNetlinkMessage) {
        // The attribute NL80211_ATTR_IFINDEX.
        guard let index: UInt32 = message.attributes.first(where: { $0.type == 3 })?.integer(), index > 0 else {
            return nil
        }
        self.index = Int(index)
    }
}

extension GenericNetlinkRequest {
    /// Requests all Wi-Fi interfaces from the family `nl80211` (`NL80211_CMD_GET_INTERFACE`).
    ///
    /// - Parameter family: The number that the kernel assigned to the family `nl80211`.
    package static func wirelessInterfaces(_ family: UInt16) -> GenericNetlinkRequest {
        GenericNetlinkRequest(family: family, command: 5, version: 0, isListing: true)
    }
}

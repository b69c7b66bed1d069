/// An interface of a radio for wireless networks, as the family `nl80211` lists it.
package struct WirelessInterface: Hashable, Sendable {
    /// The kernel's index of the interface.
    package var index: Int

    /// The name that the kernel knows the family by.
    package static let familyName = "nl80211"

    /// Reads an answer to ``GenericNetlinkRequest/wirelessInterfaces(_:)``; `nil` for radios that are no network interface.
    package init?(_ message: GenericNetlinkMessage) {
        // NL80211_ATTR_IFINDEX
        guard let index: UInt32 = message.attributes.first(where: { $0.type == 3 })?.integer(), index > 0 else {
            return nil
        }
        self.index = Int(index)
    }
}

extension GenericNetlinkRequest {
    /// Asks the family `nl80211`, under its number, for all interfaces: `NL80211_CMD_GET_INTERFACE`.
    package static func wirelessInterfaces(_ family: UInt16) -> GenericNetlinkRequest {
        GenericNetlinkRequest(family: family, command: 5, version: 0, isListing: true)
    }
}

/// The transport options that ``NWParameters/init(customIPProtocolNumber:)`` stores: a custom protocol directly on IP.
// SAFETY: all stored properties are immutable and `Sendable`.
package final class CustomIPOptions: NWProtocolOptions, @unchecked Sendable {
    package static let definition = NWProtocolDefinition(name: "custom-ip")

    /// The protocol number: the Protocol field of IPv4, the Next Header field of IPv6.
    package let protocolNumber: UInt8

    package init(protocolNumber: UInt8) {
        self.protocolNumber = protocolNumber
        super.init(definition: Self.definition)
    }

    package override func copyOptions() -> NWProtocolOptions {
        CustomIPOptions(protocolNumber: protocolNumber)
    }
}

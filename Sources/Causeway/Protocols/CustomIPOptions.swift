/// The transport of ``NWParameters/init(customIPProtocolNumber:)``: the program's own protocol directly on IP.
// SAFETY: all stored properties are immutable and `Sendable`.
package final class CustomIPOptions: NWProtocolOptions, @unchecked Sendable {
    package static let definition = NWProtocolDefinition(name: "custom-ip")

    /// The number in the IP header's protocol or next header field.
    package let protocolNumber: UInt8

    package init(protocolNumber: UInt8) {
        self.protocolNumber = protocolNumber
        super.init(definition: Self.definition)
    }

    package override func copyOptions() -> NWProtocolOptions {
        CustomIPOptions(protocolNumber: protocolNumber)
    }
}

package import CausewayProtocols

/// Options for type-length-value messages in a ``NWParameters/ProtocolStack``.
// SAFETY: all stored properties are immutable and `Sendable`.
package final class TLVOptions: NWProtocolOptions, @unchecked Sendable {
    package static let definition = NWProtocolDefinition(name: "tlv")

    package let header: TLVHeader

    package init(header: TLVHeader) {
        self.header = header
        super.init(definition: Self.definition)
    }

    package override func copyOptions() -> NWProtocolOptions { TLVOptions(header: header) }
}

/// Options for messages with encoded values, in a ``NWParameters/ProtocolStack``.
// SAFETY: the added property is immutable and `Sendable`.
package final class CoderOptions: NWProtocolOptions, @unchecked Sendable {
    package static let definition = NWProtocolDefinition(name: "coder")

    /// The program's coder. It does not state the types of the coded values. These types are generic parameters of the
    /// connection.
    package let coder: any NetworkCoder

    package init(coder: any NetworkCoder) {
        self.coder = coder
        super.init(definition: Self.definition)
    }

    package override func copyOptions() -> NWProtocolOptions { CoderOptions(coder: coder) }
}

package import CausewayProtocols

/// Messages with a type and a length before each, in a ``NWParameters/ProtocolStack``.
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

/// Encoded values as messages, in a ``NWParameters/ProtocolStack``.
// SAFETY: what is added is immutable and `Sendable`.
package final class CoderOptions: NWProtocolOptions, @unchecked Sendable {
    package static let definition = NWProtocolDefinition(name: "coder")

    /// As the program gave it. The types of the values belong to the connection's type.
    package let coder: any NetworkCoder

    package init(coder: any NetworkCoder) {
        self.coder = coder
        super.init(definition: Self.definition)
    }

    package override func copyOptions() -> NWProtocolOptions { CoderOptions(coder: coder) }
}

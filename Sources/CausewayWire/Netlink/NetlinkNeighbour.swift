/// A neighbour table entry's state (`RTM_NEWNEIGH`, rtnetlink(7)). The table is filled by ARP for IPv4 and by neighbour
/// discovery for IPv6.
package struct NetlinkNeighbour: Equatable, Sendable {
    /// The interface index.
    package var interfaceIndex: Int
    package var state: State

    /// The state bits (`NUD_` values). A new entry has none (`NUD_NONE`) until the kernel requests the neighbour's
    /// link-layer address.
    package struct State: OptionSet, Hashable, Sendable {
        package var rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The kernel requested the link-layer address and has no reply yet.
        package static let incomplete = State(rawValue: 0x01)
        /// The neighbour has not replied to any request.
        package static let failed = State(rawValue: 0x20)
    }

    /// The `struct ndmsg` size in bytes.
    private static let headByteCount = 12

    package init(interfaceIndex: Int, state: State) {
        self.interfaceIndex = interfaceIndex
        self.state = state
    }

    /// Whether packets can be sent to the neighbour, because its link-layer address is known.
    package var isResolved: Bool { !state.isEmpty && state.isDisjoint(with: [.incomplete, .failed]) }

    /// Parses `struct ndmsg`. The attributes after it are not needed.
    ///
    /// ```
    ///  0        7 8       15 16                    31
    /// +----------+----------+-----------------------+
    /// |  family  |                zero              |
    /// +----------+----------+-----------------------+
    /// |               interface index               |
    /// +---------------------+----------+------------+
    /// |        state        |  flags   |    type    |
    /// +---------------------+----------+------------+
    /// ```
    ///
    /// - Returns: `nil` for families other than IPv4 and IPv6, such as bridge forwarding tables.
    init?(parsing body: inout ByteReader) throws(WireError) {
        var head = try body.readScope(Self.headByteCount)
        let family = InternetAddress.Family(rawValue: try head.readHostInteger() as UInt8)
        _ = try head.readHostInteger() as UInt8
        _ = try head.readHostInteger() as UInt16
        let index: Int32 = try head.readHostInteger()
        let state: UInt16 = try head.readHostInteger()
        guard family == .ipv4 || family == .ipv6, index > 0 else { return nil }
        self.init(interfaceIndex: Int(index), state: State(rawValue: state))
    }
}

/// A netlink message's content (rtnetlink(7)).
package enum NetlinkMessage: Equatable, Sendable {
    /// A new, changed, or listed interface.
    case link(NetlinkLink)
    case linkRemoved(NetlinkLink)
    /// A new, changed, or listed address.
    case address(NetlinkAddress)
    case addressRemoved(NetlinkAddress)
    /// A new, changed, or listed route.
    case route(NetlinkRoute)
    case routeRemoved(NetlinkRoute)
    /// A new or listed routing policy rule.
    case rule(NetlinkRule)
    case ruleRemoved(NetlinkRule)
    /// A neighbour, as an entry of a listing.
    case neighbour(NetlinkNeighbour)
    /// A router advertised a NAT64 prefix.
    case translatorPrefix(NetlinkTranslatorPrefix)
    /// A message from a generic netlink family.
    case generic(GenericNetlinkMessage)
    /// The end of a listing. `status` is 0, or a negated `errno` value if an error ended the listing early.
    case done(status: Int32)
    /// A request's result: 0 for success, otherwise the negated `errno` value.
    case error(status: Int32)
    /// Messages were lost.
    case overrun
    case noOperation
    /// A message type or address family that this library does not decode.
    case other(type: UInt16)
}

/// The 16-byte header before every netlink message, in host byte order (netlink(7)).
///
/// ```
///  0             15 16            31
/// +-----------------+---------------+
/// |    length, header included      |
/// +-----------------+---------------+
/// |      type       |     flags     |
/// +-----------------+---------------+
/// |        sequence number          |
/// +---------------------------------+
/// |            port id              |
/// +---------------------------------+
/// ```
package struct NetlinkHeader: Equatable, Sendable {
    /// Header size in bytes.
    package static let byteCount = 16

    /// Message size in bytes, with this header and without padding.
    package var length: UInt32
    package var type: UInt16
    package var flags: Flags
    /// The request's sequence number; 0 in notifications.
    package var sequence: UInt32
    /// The port ID of the socket that receives the message. 0 for the kernel, and in notifications.
    package var port: UInt32

    package struct Flags: OptionSet, Hashable, Sendable {
        package var rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The message is a request (`NLM_F_REQUEST`).
        package static let request = Flags(rawValue: 0x01)
        /// More messages in the same listing follow. The listing ends with ``NetlinkMessage/done(status:)``
        /// (`NLM_F_MULTI`).
        package static let multipart = Flags(rawValue: 0x02)
        /// The sender requests an acknowledgement (`NLM_F_ACK`).
        package static let acknowledge = Flags(rawValue: 0x04)
        /// Replace an existing object (`NLM_F_REPLACE`).
        package static let replace = Flags(rawValue: 0x100)
        /// Create the object if it does not exist (`NLM_F_CREATE`).
        package static let create = Flags(rawValue: 0x400)
        /// The state changed during the listing, so the listing may be inconsistent (`NLM_F_DUMP_INTR`).
        package static let dumpInterrupted = Flags(rawValue: 0x10)
        /// List all objects (`NLM_F_DUMP`).
        package static let dump = Flags(rawValue: 0x300)
    }

    package init(length: UInt32, type: UInt16, flags: Flags, sequence: UInt32, port: UInt32) {
        self.length = length
        self.type = type
        self.flags = flags
        self.sequence = sequence
        self.port = port
    }

    init(parsing reader: inout ByteReader) throws(WireError) {
        var fields = try reader.readScope(Self.byteCount)
        length = try fields.readHostInteger()
        type = try fields.readHostInteger()
        flags = Flags(rawValue: try fields.readHostInteger())
        sequence = try fields.readHostInteger()
        port = try fields.readHostInteger()
    }
}

/// The decoded message types, named as in linux/netlink.h and linux/rtnetlink.h.
enum NetlinkType {
    static let noOperation: UInt16 = 1
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    /// Message types below this number have the same meaning on routing sockets and on generic netlink sockets.
    static let firstOfFamilies: UInt16 = 16
    static let newLink: UInt16 = 16
    static let deleteLink: UInt16 = 17
    static let getLink: UInt16 = 18
    static let newAddress: UInt16 = 20
    static let deleteAddress: UInt16 = 21
    static let getAddress: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let deleteRoute: UInt16 = 25
    static let getRoute: UInt16 = 26
    static let newNeighbour: UInt16 = 28
    static let getNeighbour: UInt16 = 30
    static let newRule: UInt16 = 32
    static let deleteRule: UInt16 = 33
    static let getRule: UInt16 = 34
    static let newUserOption: UInt16 = 68
}

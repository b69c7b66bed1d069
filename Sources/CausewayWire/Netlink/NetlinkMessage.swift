/// What one rtnetlink message says (rtnetlink(7)).
package enum NetlinkMessage: Equatable, Sendable {
    /// An interface exists in this shape: new, changed, or listed.
    case link(NetlinkLink)
    case linkRemoved(NetlinkLink)
    /// An address is assigned in this shape: new, changed, or listed.
    case address(NetlinkAddress)
    case addressRemoved(NetlinkAddress)
    /// A route exists in this shape: new, changed, or listed.
    case route(NetlinkRoute)
    case routeRemoved(NetlinkRoute)
    /// A routing policy rule exists in this shape: new, or listed.
    case rule(NetlinkRule)
    case ruleRemoved(NetlinkRule)
    /// A router told of a translator.
    case translatorPrefix(NetlinkTranslatorPrefix)
    /// What a family of generic netlink says.
    case generic(GenericNetlinkMessage)
    /// The end of a listing. `status` is 0 or the negated `errno` value that cut the listing short.
    case done(status: Int32)
    /// The answer to a request: 0 for an acknowledgement, else the negated `errno` value of its failure.
    case error(status: Int32)
    /// Messages were lost.
    case overrun
    case noOperation
    /// A message of a type, or of an address family, that is not decoded here.
    case other(type: UInt16)
}

/// The 16 bytes in front of every netlink message, in the machine's byte order (netlink(7)).
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
    /// Bytes on the wire.
    package static let byteCount = 16

    /// Bytes of the message, this header included, padding excluded.
    package var length: UInt32
    package var type: UInt16
    package var flags: Flags
    /// What the request was numbered with; 0 in notifications.
    package var sequence: UInt32
    /// The socket that the message is for; 0 is the kernel, and notifications.
    package var port: UInt32

    package struct Flags: OptionSet, Hashable, Sendable {
        package var rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// This is a request (`NLM_F_REQUEST`).
        package static let request = Flags(rawValue: 0x01)
        /// More messages of the same listing follow, up to ``NetlinkMessage/done(status:)`` (`NLM_F_MULTI`).
        package static let multipart = Flags(rawValue: 0x02)
        /// Say when it is done (`NLM_F_ACK`).
        package static let acknowledge = Flags(rawValue: 0x04)
        /// What is there already is changed (`NLM_F_REPLACE`).
        package static let replace = Flags(rawValue: 0x100)
        /// What is not there is made (`NLM_F_CREATE`).
        package static let create = Flags(rawValue: 0x400)
        /// The state changed while it was being listed, so the listing may contradict itself (`NLM_F_DUMP_INTR`).
        package static let dumpInterrupted = Flags(rawValue: 0x10)
        /// List everything (`NLM_F_DUMP`).
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

/// The message types known here, under their names in linux/netlink.h and linux/rtnetlink.h.
enum NetlinkType {
    static let noOperation: UInt16 = 1
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    /// Numbers below are the same in every vocabulary.
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
    static let newRule: UInt16 = 32
    static let deleteRule: UInt16 = 33
    static let getRule: UInt16 = 34
    static let newUserOption: UInt16 = 68
}

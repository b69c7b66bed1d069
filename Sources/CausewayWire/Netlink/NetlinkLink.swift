/// A network interface, as the kernel reports it (`RTM_NEWLINK`, rtnetlink(7)).
package struct NetlinkLink: Equatable, Sendable {
    /// The address family in the message. It is ``InternetAddress/Family/unspecified`` if the message is about the
    /// interface itself. Any other family stands for one aspect of the interface. For example, a removal with the
    /// family ``InternetAddress/Family/bridge`` means that the interface has left a bridge but still exists.
    package var family: InternetAddress.Family
    /// The interface index, at least 1.
    package var index: Int
    /// The hardware type, an `ARPHRD_` value. 1 means Ethernet, 772 means loopback, and 65534 means that the interface
    /// has no hardware type.
    package var hardwareType: UInt16
    package var flags: Flags
    package var name = ""
    /// The MTU in bytes; `nil` if the message does not contain it.
    package var mtu: Int?
    /// The link-layer address; empty if the link has no link-layer addresses.
    package var hardwareAddress: [UInt8] = []
    package var operationalState: OperationalState = .unknown
    /// The index of the interface's controller: the bridge, bond or VRF to which it belongs; `nil` if there is none.
    package var controller: Int?
    /// A virtual interface's type, such as `bridge`, `veth`, `wireguard`; `nil` for hardware.
    package var kind: String?

    /// An interface's state and capabilities (`IFF_` values, netdevice(7)).
    package struct Flags: OptionSet, Hashable, Sendable {
        package var rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The administrator has enabled the interface.
        package static let up = Flags(rawValue: 0x1)
        package static let broadcast = Flags(rawValue: 0x2)
        package static let loopback = Flags(rawValue: 0x8)
        package static let pointToPoint = Flags(rawValue: 0x10)
        /// The interface can carry packets: it is enabled and its link works.
        package static let running = Flags(rawValue: 0x40)
        package static let noARP = Flags(rawValue: 0x80)
        package static let multicast = Flags(rawValue: 0x1000)
        /// The link is up: a cable is connected or a radio is associated.
        package static let lowerUp = Flags(rawValue: 0x10000)
        /// The link is up but waits for an external event, such as authentication (RFC 2863 §3.1.12).
        package static let dormant = Flags(rawValue: 0x20000)
    }

    /// The interface's operational state, which determines whether packets can pass (RFC 2863 §3.1.12).
    package enum OperationalState: UInt8, Sendable {
        /// The driver does not report the operational state. Many virtual interfaces always have this state, even while
        /// they carry packets.
        case unknown = 0
        /// A component of the interface, often hardware, is absent.
        case notPresent = 1
        case down = 2
        /// A lower-layer interface is down.
        case lowerLayerDown = 3
        case testing = 4
        /// The interface waits for an external event, such as authentication.
        case dormant = 5
        case up = 6
    }

    package init(
        family: InternetAddress.Family = .unspecified, index: Int, hardwareType: UInt16, flags: Flags
    ) {
        self.family = family
        self.index = index
        self.hardwareType = hardwareType
        self.flags = flags
    }

    /// Parses `struct ifinfomsg` and the attributes after it.
    init(parsing body: inout ByteReader) throws(WireError) {
        family = InternetAddress.Family(rawValue: try body.readHostInteger())
        try body.skip(1)
        hardwareType = try body.readHostInteger()
        let indexPosition = body.position
        let index: Int32 = try body.readHostInteger()
        guard index > 0 else { throw .invalid("interface index", at: indexPosition) }
        self.index = Int(index)
        flags = Flags(rawValue: try body.readHostInteger())
        try body.skip(4)  // The mask of changed flags is not needed.
        try body.readAttributes { (type, value) throws(WireError) in
            try adopt(attribute: type, &value)
        }
    }

    /// Stores the value of one `IFLA_` attribute. The attribute numbers are those in linux/if_link.h.
    private mutating func adopt(attribute type: UInt16, _ value: inout ByteReader) throws(WireError) {
        switch type {
        case 1: hardwareAddress = try value.readBytes(value.remaining)
        case 3: name = try value.readText()
        case 4:
            let bytes: UInt32 = try value.readHostInteger()
            mtu = Int(bytes)
        case 10:
            let index: Int32 = try value.readHostInteger()
            controller = index > 0 ? Int(index) : nil
        case 16: operationalState = OperationalState(rawValue: try value.readHostInteger()) ?? .unknown
        case 18:
            var found = kind
            try value.readAttributes { (type, value) throws(WireError) in
                if type == 1 { found = try value.readText() }  // IFLA_INFO_KIND
            }
            kind = found
        default: break
        }
    }
}

/// Prints packets of routing protocols and router redundancy protocols, one line for each packet.
extension PacketPrinter {
    private static let ospfTypes: [UInt8: StaticString] = [
        1: "Hello", 2: "Database Description", 3: "LS-Request", 4: "LS-Update", 5: "LS-Ack",
    ]

    private static let ospfCryptographic: UInt16 = 2

    private func ospfIsDigested(_ p: borrowing ByteView) -> Bool { (try? p.u16(14)) == Self.ospfCryptographic }

    /// Prints OSPF (RFC 2328 §A.3.1, RFC 5340 §A.3.1).
    mutating func ospf(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "ospf"
        let (version, type) = (try p.u8(0), try p.u8(1))
        put("OSPFv", version, ", ")
        if let name = Self.ospfTypes[type] { out.put(name) } else { put("unknown packet type (", type, ")") }
        // The digest after the message does not count in the printed length (RFC 2328 §D.3).
        let isDigested = version == 2 && ospfIsDigested(p)
        put(", length ", length - (isDigested ? Int(try p.u8(19)) : 0))
    }

    /// The only VRRP packet type (RFC 5798 §5.2.2).
    private static let vrrpAdvertisement: UInt8 = 1

    /// Prints VRRP (RFC 3768 §5.1, RFC 5798 §5.1).
    mutating func vrrp(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) throws(WireError) {
        part = "vrrp"
        let first = try p.u8(0)
        put("VRRPv", first >> 4, ", ")
        if first & 15 == Self.vrrpAdvertisement { out.put("Advertisement") } else { put("[type#", first & 15, "]") }
        if carrier.hopLimit != 255 { put(", (ttl ", carrier.hopLimit, ")") }
        put(", vrid ", try p.u8(1))
        put(", prio ", try p.u8(2))
        if first >> 4 == 2 {
            let methods: [UInt8: StaticString] = [0: "none", 1: "simple", 2: "ah"]
            let method = try p.u8(4)
            out.put(", authtype ")
            if let name = methods[method] { out.put(name) } else { put("#", method) }
            put(", intvl ", try p.u8(5), "s")
        } else {
            put(", intvl ", try p.u16(4) & 0x0FFF, "cs")
        }
        put(", length ", length)
    }

    private static let eigrpVersion: UInt8 = 2
    private static let eigrpOperations: [UInt8: StaticString] = [
        1: "Update", 3: "Query", 4: "Reply", 5: "Hello", 6: "IPX SAP", 8: "Probe",
    ]

    /// Prints EIGRP (RFC 7868 §6.1).
    mutating func eigrp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "eigrp"
        try p.require(20, at: 0)
        let (version, operation) = (try p.u8(0), try p.u8(1))
        guard version == Self.eigrpVersion else { return put("EIGRP version ", version, "packet not supported") }
        out.put("EIGRP ")
        if let name = Self.eigrpOperations[operation] { out.put(name) } else { put("unknown, type: ", operation) }
        put(", length: ", length)
    }

    /// IGRP opcodes.
    private enum IGRPOpcode {
        static let update: UInt8 = 1
        static let request: UInt8 = 2
    }

    /// Prints IGRP, the predecessor of EIGRP.
    mutating func igrp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "igrp"
        out.put("igrp:")
        try p.require(12, at: 0)
        let first = try p.u8(0)
        switch first & 15 {
        case IGRPOpcode.update: out.put(" update")
        case IGRPOpcode.request: out.put(" request")
        default: put(" op-#", first & 15)
        }
        put(" V", first >> 4)
        put(" edit=", try p.u8(1))
        put(" AS=", try p.u16(2))
        put(" (", try p.u16(4))
        put("/", try p.u16(6))
        put("/", try p.u16(8), ")")
    }

    private static let pimTypes: [UInt8: StaticString] = [
        0: "Hello", 1: "Register", 2: "Register-Stop", 3: "Join / Prune", 4: "Bootstrap", 5: "Assert", 6: "Graft",
        7: "Graft-ACK", 8: "Candidate RP Advertisement", 9: "Prune-Refresh", 10: "DF Election",
    ]

    /// Prints PIM (RFC 7761 §4.9).
    mutating func pim(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "pim"
        let first = try p.u8(0)
        guard first >> 4 == 2 else {
            put("[pim-version-", first >> 4)
            return put("], length ", length)
        }
        out.put("PIMv2, ")
        out.put(Self.pimTypes[first & 15] ?? "Unknown-Type")
        put(", length ", length)
    }

    private static let bfdStates: [StaticString] = ["AdminDown", "Down", "Init", "Up"]

    /// Prints BFD (RFC 5880 §4.1).
    mutating func bfd(_ p: borrowing ByteView, _ length: Int, _ kind: StaticString) throws(WireError) {
        part = "bfd"
        let (first, second) = (try p.u8(0), try p.u8(1))
        try p.require(24, at: 0)
        put("BFDv", first >> 5, ", ")
        out.put(kind)
        out.put(", State ")
        out.put(Self.bfdStates[Int(second >> 6)])
        out.put(", Flags: [")
        let names: [(UInt32, StaticString)] = [
            (0x20, "Poll"), (0x10, "Final"), (0x08, "Control Plane Independent"), (0x04, "Authentication Present"),
            (0x02, "Demand"), (0x01, "Reserved"),
        ]
        bits(UInt32(second & 0x3F), names, none: "none")
        put("], length: ", length)
    }

    private static let ripCommands: [UInt8: StaticString] = [
        1: "Request", 2: "Response", 3: "Trace on", 4: "Trace off", 5: "Sun-RIP", 9: "Triggered Request",
        10: "Triggered Response", 11: "Triggered Acknowledgement", 12: "Update Request", 13: "Update Response",
        14: "Update Acknowledge",
    ]

    /// Prints RIP (RFC 2453 §4).
    mutating func rip(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "rip"
        let (command, version) = (try p.u8(0), try p.u8(1))
        put("RIPv", version)
        guard version > 0 else { return unknown(p.from(4), "\n\t") }
        out.put(", ")
        if let name = Self.ripCommands[command] { out.put(name) } else { put("unknown command ", command) }
        put(", length: ", length)
    }

    private static let hsrpOperations: [StaticString] = ["hello", "coup", "resign"]
    private static let hsrpStates: [UInt8: StaticString] = [
        0: "initial", 1: "learn", 2: "listen", 4: "speak", 8: "standby", 16: "active",
    ]

    /// Prints HSRP (RFC 2281 §5.1).
    mutating func hsrp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "hsrp"
        let version = try p.u8(0)
        put("HSRPv", version)
        guard version == 0 else { return }
        let operation = try p.u8(1)
        out.put("-")
        if Int(operation) < Self.hsrpOperations.count {
            out.put(Self.hsrpOperations[Int(operation)])
        } else {
            put("unknown (", operation, ")")
        }
        put(" ", length, ": state=")
        let state = try p.u8(2)
        if let name = Self.hsrpStates[state] { out.put(name) } else { put("Unknown (", state, ")") }
        put(" group=", try p.u8(6), " ")
        let reserved = try p.u8(7)
        if reserved != 0 { put("[reserved=", reserved, "!] ") }
        let address = try p.u32(16)
        out.put("addr=")
        out.ipv4(address)
    }
}

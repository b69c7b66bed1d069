/// Prints UDP protocols that fit on one line.
extension PacketPrinter {
    private static let ntpModes: [StaticString] = [
        "unspecified", "symmetric active", "symmetric passive", "Client", "Server", "Broadcast", "Control Message",
        "Reserved",
    ]

    /// Prints NTP (RFC 5905 §7.3).
    mutating func ntp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "ntp"
        let first = try p.u8(0)
        put("NTPv", first >> 3 & 7, ", ")
        out.put(Self.ntpModes[Int(first & 7)])
        put(", length ", length)
    }

    private static let dhcp6Messages: [UInt8: StaticString] = [
        1: "solicit", 2: "advertise", 3: "request", 4: "confirm", 5: "renew", 6: "rebind", 7: "reply", 8: "release",
        9: "decline", 10: "reconf", 11: "inf-req", 12: "relay-fwd", 13: "relay-reply", 14: "leasequery",
        15: "leasequery-reply", 16: "leasequery-done", 17: "leasequery-data", 18: "reconf-req", 19: "reconf-reply",
        20: "dhcpv4-query", 21: "dhcpv4-response",
    ]

    /// Prints DHCPv6 (RFC 8415 §8).
    mutating func dhcp6(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "dhcp6"
        out.put("dhcp6")
        let message = try p.u8(0)
        try p.require(4, at: 0)
        out.put(" ")
        if let name = Self.dhcp6Messages[message] { out.put(name) } else { put("msgtype-", message) }
    }

    private static let radiusCommands: [UInt8: StaticString] = [
        1: "Access-Request", 2: "Access-Accept", 3: "Access-Reject", 4: "Accounting-Request",
        5: "Accounting-Response", 11: "Access-Challenge", 12: "Status-Server", 13: "Status-Client",
        40: "Disconnect-Request", 41: "Disconnect-ACK", 42: "Disconnect-NAK", 43: "CoA-Request", 44: "CoA-ACK",
        45: "CoA-NAK", 255: "Reserved",
    ]

    /// Prints RADIUS (RFC 2865 §3).
    mutating func radius(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "radius"
        try p.require(20, at: 0)
        let command = try p.u8(0)
        out.put("RADIUS, ")
        out.put(Self.radiusCommands[command] ?? "Unknown Command")
        put(" (", command)
        putHex("), id: 0x", try p.u8(1), width: 2)
        put(" length: ", try p.u16(2))
    }

    /// The first bytes of two Kerberos 5 messages: AS-REQ begins with 106, AS-REP with 107. These are their ASN.1
    /// application tags (RFC 4120 §5.10).
    private static let kerberosTags: ClosedRange<UInt8> = 106...107

    /// Prints Kerberos (RFC 4120). The content is mostly encrypted.
    mutating func kerberos(_ p: borrowing ByteView) throws(WireError) {
        part = "kerberos"
        let first = try p.u8(0)
        switch first {
        case 1...4: put(" v", first)
        case Self.kerberosTags: out.put(" v5")
        default: break
        }
    }

    private static let facilities: [StaticString] = [
        "kernel", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp",
        "security", "console", "cron", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
    ]
    private static let severities: [StaticString] = [
        "emergency", "alert", "critical", "error", "warning", "notice", "info", "debug",
    ]

    /// Prints a syslog message. The number in angle brackets is the priority. It contains the facility and the severity
    /// (RFC 3164 §4).
    mutating func syslog(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "syslog"
        guard try p.u8(0) == UInt8(ascii: "<") else { return invalid() }
        var (priority, offset) = (0, 1)
        let zero = UInt8(ascii: "0")
        while offset < 4, case let digit = try p.u8(offset), (zero...UInt8(ascii: "9")).contains(digit) {
            priority = priority * 10 + Int(digit - zero)
            offset += 1
        }
        out.put("SYSLOG ")
        if priority / 8 < Self.facilities.count {
            out.put(Self.facilities[priority / 8])
        } else {
            put("unknown (", priority / 8, ")")
        }
        out.put(".")
        out.put(Self.severities[priority % 8])
        put(", length: ", length)
    }
}

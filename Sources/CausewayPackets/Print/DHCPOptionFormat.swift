/// A DHCP option's name, and its value's print format (RFC 2132).
struct DHCPOptionFormat: Sendable {
    enum Format {
        case addresses, addressPairs, bytes, u16, u32, i32, text, flags
        case netbiosNode, overload, parameters, clientID, userClass, domainName, relay, routes
        /// A value of unknown format is printed as numbers. Each number has four, two or one bytes: the largest of
        /// these sizes that divides the value's length.
        case unknown
    }

    let name: StaticString
    let format: Format

    init(_ name: StaticString, _ format: Format) {
        self.name = name
        self.format = format
    }

    /// The options by number, with the names that tcpdump prints.
    static let all: [UInt8: DHCPOptionFormat] = [
        1: DHCPOptionFormat("Subnet-Mask", .addresses), 2: DHCPOptionFormat("Time-Zone", .i32),
        3: DHCPOptionFormat("Default-Gateway", .addresses), 4: DHCPOptionFormat("Time-Server", .addresses),
        5: DHCPOptionFormat("IEN-Name-Server", .addresses), 6: DHCPOptionFormat("Domain-Name-Server", .addresses),
        7: DHCPOptionFormat("LOG", .addresses), 8: DHCPOptionFormat("CS", .addresses),
        9: DHCPOptionFormat("LPR-Server", .addresses), 10: DHCPOptionFormat("IM", .addresses),
        11: DHCPOptionFormat("RL", .addresses), 12: DHCPOptionFormat("Hostname", .text),
        13: DHCPOptionFormat("BS", .u16), 14: DHCPOptionFormat("DP", .text),
        15: DHCPOptionFormat("Domain-Name", .text), 16: DHCPOptionFormat("SS", .addresses),
        17: DHCPOptionFormat("RP", .text), 18: DHCPOptionFormat("EP", .text), 19: DHCPOptionFormat("IPF", .flags),
        20: DHCPOptionFormat("SRT", .flags), 21: DHCPOptionFormat("PF", .addressPairs),
        22: DHCPOptionFormat("RSZ", .u16), 23: DHCPOptionFormat("TTL", .bytes),
        24: DHCPOptionFormat("MTU-Timeout", .u32), 25: DHCPOptionFormat("MTU-Table", .u16),
        26: DHCPOptionFormat("MTU", .u16), 27: DHCPOptionFormat("LSN", .flags),
        28: DHCPOptionFormat("BR", .addresses), 29: DHCPOptionFormat("MD", .flags),
        30: DHCPOptionFormat("MS", .flags), 31: DHCPOptionFormat("Router-Discovery", .flags),
        32: DHCPOptionFormat("RSA", .addresses), 33: DHCPOptionFormat("Static-Route", .addressPairs),
        34: DHCPOptionFormat("UT", .flags), 35: DHCPOptionFormat("AT", .u32), 36: DHCPOptionFormat("IE", .flags),
        37: DHCPOptionFormat("TT", .bytes), 38: DHCPOptionFormat("KI", .u32), 39: DHCPOptionFormat("KG", .flags),
        40: DHCPOptionFormat("YD", .text), 41: DHCPOptionFormat("YS", .addresses),
        42: DHCPOptionFormat("NTP", .addresses), 43: DHCPOptionFormat("Vendor-Option", .bytes),
        44: DHCPOptionFormat("Netbios-Name-Server", .addresses), 45: DHCPOptionFormat("WDD", .addresses),
        46: DHCPOptionFormat("Netbios-Node", .netbiosNode), 47: DHCPOptionFormat("Netbios-Scope", .text),
        48: DHCPOptionFormat("XFS", .addresses), 49: DHCPOptionFormat("XDM", .addresses),
        50: DHCPOptionFormat("Requested-IP", .addresses), 51: DHCPOptionFormat("Lease-Time", .u32),
        52: DHCPOptionFormat("OO", .overload), 53: DHCPOptionFormat("DHCP-Message", .bytes),
        54: DHCPOptionFormat("Server-ID", .addresses), 55: DHCPOptionFormat("Parameter-Request", .parameters),
        56: DHCPOptionFormat("MSG", .text), 57: DHCPOptionFormat("MSZ", .u16), 58: DHCPOptionFormat("RN", .u32),
        59: DHCPOptionFormat("RB", .u32), 60: DHCPOptionFormat("Vendor-Class", .text),
        61: DHCPOptionFormat("Client-ID", .clientID), 64: DHCPOptionFormat("N+D", .u16),
        65: DHCPOptionFormat("N+S", .addresses), 66: DHCPOptionFormat("TFTP", .text),
        67: DHCPOptionFormat("BF", .text), 68: DHCPOptionFormat("MH", .addresses),
        69: DHCPOptionFormat("SMTP", .addresses), 70: DHCPOptionFormat("POP3", .addresses),
        71: DHCPOptionFormat("NNTP", .addresses), 72: DHCPOptionFormat("WWW", .addresses),
        73: DHCPOptionFormat("FG", .addresses), 74: DHCPOptionFormat("IRC", .addresses),
        75: DHCPOptionFormat("STS", .addresses), 76: DHCPOptionFormat("STDA", .addresses),
        77: DHCPOptionFormat("User-Class", .userClass), 78: DHCPOptionFormat("SLP-DA", .bytes),
        79: DHCPOptionFormat("SLP-SCOPE", .bytes), 80: DHCPOptionFormat("SLP-NA", .text),
        81: DHCPOptionFormat("FQDN", .domainName), 82: DHCPOptionFormat("Agent-Information", .relay),
        83: DHCPOptionFormat("ARMT", .bytes), 88: DHCPOptionFormat("TZSTR", .text),
        89: DHCPOptionFormat("FQDNS", .bytes), 90: DHCPOptionFormat("AUTH", .bytes),
        91: DHCPOptionFormat("Last-Transaction-Time", .i32), 92: DHCPOptionFormat("Associated-IP", .addresses),
        93: DHCPOptionFormat("ARCH", .u16), 94: DHCPOptionFormat("NDI", .bytes), 95: DHCPOptionFormat("LDAP", .text),
        97: DHCPOptionFormat("GUID", .bytes), 98: DHCPOptionFormat("UAP", .text),
        100: DHCPOptionFormat("POSIX-TZ", .text), 101: DHCPOptionFormat("TZ-Name", .text),
        108: DHCPOptionFormat("IPv6-Only-Preferred", .u32), 112: DHCPOptionFormat("NI", .addresses),
        113: DHCPOptionFormat("NITAG", .text), 114: DHCPOptionFormat("URL", .text),
        116: DHCPOptionFormat("NOAUTO", .flags), 117: DHCPOptionFormat("NSSEARCH", .u16),
        118: DHCPOptionFormat("SUBNET", .addresses), 121: DHCPOptionFormat("Classless-Static-Route", .routes),
        150: DHCPOptionFormat("TFTP-Server-Address", .addresses), 161: DHCPOptionFormat("MUD-URL", .text),
        249: DHCPOptionFormat("Classless-Static-Route-Microsoft", .routes),
    ]
}

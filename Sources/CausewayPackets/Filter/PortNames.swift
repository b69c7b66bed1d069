/// Well-known port names.
public enum PortNames {
    /// Returns the service that usually uses a port, or `nil`.
    public static func name(of port: UInt16) -> String? { byPort[port] }

    /// Returns the transport of a service that is registered for only one transport. Returns `nil` for other services.
    /// In a filter, the service's name matches no other transport.
    static func transport(of name: String) -> FilterProtocol? {
        if tcpOnly.contains(name) { return .tcp }
        return udpOnly.contains(name) ? .udp : nil
    }

    private static let tcpOnly: Set<String> = [
        "ftp-data", "ftp", "ssh", "telnet", "smtp", "whois", "gopher", "finger", "http", "pop3", "auth", "nntp",
        "epmap", "netbios-ssn", "imap2", "imap", "bgp", "microsoft-ds", "submissions", "exec", "login", "shell",
        "printer", "submission", "ipp", "rsync", "ftps-data", "ftps", "telnets", "imaps", "pop3s", "socks",
        "ms-sql-s", "mysql", "svn", "xmpp-client", "postgresql", "amqps", "x11", "redis", "ircd", "http-alt", "git",
    ]
    private static let udpOnly: Set<String> = [
        "bootps", "bootpc", "tftp", "ntp", "netbios-ns", "netbios-dgm", "isakmp", "route", "dhcpv6-client",
        "dhcpv6-server", "ms-sql-m", "mdns",
    ]

    static let byPort: [UInt16: String] = Dictionary(
        table.map { ($0.1, $0.0) }, uniquingKeysWith: { first, _ in first })

    static let table: [(String, UInt16)] = [
        ("echo", 7), ("discard", 9), ("daytime", 13), ("chargen", 19), ("ftp-data", 20), ("ftp", 21), ("ssh", 22),
        ("telnet", 23), ("smtp", 25), ("time", 37), ("whois", 43), ("tacacs", 49), ("domain", 53), ("bootps", 67),
        ("bootpc", 68), ("tftp", 69), ("gopher", 70), ("finger", 79), ("http", 80), ("kerberos", 88), ("pop3", 110),
        ("sunrpc", 111), ("auth", 113), ("nntp", 119), ("ntp", 123), ("epmap", 135), ("netbios-ns", 137),
        ("netbios-dgm", 138), ("netbios-ssn", 139), ("imap2", 143), ("imap", 143), ("snmp", 161), ("snmp-trap", 162),
        ("bgp", 179), ("irc", 194), ("ldap", 389), ("https", 443), ("microsoft-ds", 445), ("kpasswd", 464),
        ("submissions", 465), ("isakmp", 500), ("exec", 512), ("login", 513), ("shell", 514), ("syslog", 514),
        ("printer", 515), ("route", 520), ("ripng", 521), ("dhcpv6-client", 546), ("dhcpv6-server", 547),
        ("rtsp", 554), ("submission", 587), ("ipp", 631), ("ldaps", 636), ("ldp", 646), ("domain-s", 853),
        ("rsync", 873), ("ftps-data", 989), ("ftps", 990), ("telnets", 992), ("imaps", 993), ("pop3s", 995),
        ("socks", 1080), ("openvpn", 1194), ("ms-sql-s", 1433), ("ms-sql-m", 1434), ("radius", 1812),
        ("radius-acct", 1813), ("nfs", 2049), ("mysql", 3306), ("rdp", 3389), ("nut", 3493), ("svn", 3690),
        ("vxlan", 4789), ("sip", 5060), ("sips", 5061), ("xmpp-client", 5222), ("mdns", 5353), ("llmnr", 5355),
        ("postgresql", 5432), ("amqps", 5671), ("amqp", 5672), ("x11", 6000), ("geneve", 6081), ("redis", 6379),
        ("ircd", 6667), ("bittorrent", 6881), ("http-alt", 8080), ("https-alt", 8443), ("git", 9418),
        ("mongodb", 27017),
    ]
}

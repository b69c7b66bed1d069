package import CausewayTypes

/// One question of a message (RFC 1035 §4.1.2).
package struct DNSQuestion: Hashable, Sendable {
    package var name: DNSName
    package var type: DNSRecordType
    package var recordClass: DNSRecordClass
    /// Multicast DNS: the answer may come by unicast (RFC 6762 §5.4).
    package var acceptsUnicast: Bool

    package init(
        _ name: DNSName, _ type: DNSRecordType, _ recordClass: DNSRecordClass = .internet, acceptsUnicast: Bool = false
    ) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
        self.acceptsUnicast = acceptsUnicast
    }

    /// Whether a record is an answer to this question, or the alias that leads to one.
    package func matches(_ record: DNSRecord) -> Bool {
        (type == .any || type == record.type || record.type == .cname)
            && (recordClass == .any || recordClass == record.recordClass) && name == record.name
    }
}

/// One resource record (RFC 1035 §4.1.3).
package struct DNSRecord: Hashable, Sendable {
    // In this order a record takes 48 bytes; tables of multicast DNS hold tens of thousands.
    package var name: DNSName
    /// In seconds.
    package var timeToLive: UInt32
    package var type: DNSRecordType
    package var recordClass: DNSRecordClass
    package var data: DNSRecordData
    /// Multicast DNS: forget what else is known under this name, type and class (RFC 6762 §10.2).
    package var flushesCache: Bool

    package init(
        _ name: DNSName, _ type: DNSRecordType, _ recordClass: DNSRecordClass = .internet, flushesCache: Bool = false,
        timeToLive: UInt32, _ data: DNSRecordData
    ) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
        self.flushesCache = flushesCache
        self.timeToLive = timeToLive
        self.data = data
    }
}

/// What a record says.
package enum DNSRecordData: Hashable, Sendable {
    case ipv4(IPv4Address)
    case ipv6(IPv6Address)
    /// A single name: PTR, CNAME, NS, DNAME.
    case name(DNSName)
    /// Where a service is (RFC 2782).
    case service(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
    /// TXT: strings of at most 255 bytes behind their lengths, as they stand in the message.
    case text([UInt8])
    case mail(preference: UInt16, exchange: DNSName)
    // Seldom, and large: elsewhere, so that all others stay small.
    indirect case authority(DNSAuthority)
    /// Which types a name has (RFC 4034 §4).
    case next(DNSName, types: [DNSRecordType])
    /// SVCB, HTTPS (RFC 9460).
    indirect case binding(DNSServiceBinding)
    /// Of a type that is not known here, or broken.
    case opaque([UInt8])
}

/// The start of a zone of authority (RFC 1035 §3.3.13). Times are in seconds.
package struct DNSAuthority: Hashable, Sendable {
    package var server: DNSName
    package var mailbox: DNSName
    package var serial: UInt32
    package var refresh: UInt32
    package var retry: UInt32
    package var expire: UInt32
    /// How long it may be remembered that a name or type is not there (RFC 2308 §4).
    package var minimum: UInt32

    package init(
        server: DNSName, mailbox: DNSName, serial: UInt32, refresh: UInt32, retry: UInt32, expire: UInt32,
        minimum: UInt32
    ) {
        self.server = server
        self.mailbox = mailbox
        self.serial = serial
        self.refresh = refresh
        self.retry = retry
        self.expire = expire
        self.minimum = minimum
    }
}

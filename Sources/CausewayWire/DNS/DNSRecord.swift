package import CausewayTypes

/// A question in a message (RFC 1035 §4.1.2).
package struct DNSQuestion: Hashable, Sendable {
    package var name: DNSName
    package var type: DNSRecordType
    package var recordClass: DNSRecordClass
    /// The mDNS QU bit, which allows a unicast response (RFC 6762 §5.4).
    package var acceptsUnicast: Bool

    package init(
        _ name: DNSName, _ type: DNSRecordType, _ recordClass: DNSRecordClass = .internet, acceptsUnicast: Bool = false
    ) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
        self.acceptsUnicast = acceptsUnicast
    }

    /// Whether `record` answers this question or is a CNAME record for the question's name.
    package func matches(_ record: DNSRecord) -> Bool {
        (type == .any || type == record.type || record.type == .cname)
            && (recordClass == .any || recordClass == record.recordClass) && name == record.name
    }
}

/// A resource record (RFC 1035 §4.1.3).
package struct DNSRecord: Hashable, Sendable {
    // With this order of the stored properties, a record has 48 bytes. mDNS tables hold tens of thousands of records.
    package var name: DNSName
    /// The TTL in seconds.
    package var timeToLive: UInt32
    package var type: DNSRecordType
    package var recordClass: DNSRecordClass
    package var data: DNSRecordData
    /// The mDNS cache-flush bit. Receivers drop other cached records with this name, type and class (RFC 6762 §10.2, §18.13).
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

    /// The approximate memory use in bytes. It can be many times the size on the wire, where names are compressed.
    package var byteCount: Int { 128 + name.wire.count + data.byteCount }
}

/// A record's content (RDATA).
package enum DNSRecordData: Hashable, Sendable {
    case ipv4(IPv4Address)
    case ipv6(IPv6Address)
    /// A single name, as in PTR, CNAME, NS and DNAME records.
    case name(DNSName)
    /// An SRV record: a service's location (RFC 2782).
    case service(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
    /// A TXT record in wire format: strings up to 255 bytes, each after its length byte.
    case text([UInt8])
    case mail(preference: UInt16, exchange: DNSName)
    // A SOA record. This case is indirect, because a SOA record is large. Otherwise this rare record would make all
    // other cases larger.
    indirect case authority(DNSAuthority)
    /// An NSEC record: the types that exist for a name (RFC 4034 §4).
    case next(DNSName, types: [DNSRecordType])
    /// An SVCB or HTTPS record (RFC 9460).
    indirect case binding(DNSServiceBinding)
    /// Raw bytes, for an unknown type or malformed content.
    case opaque([UInt8])

    fileprivate var byteCount: Int {
        switch self {
        case .ipv4, .ipv6: 16
        case .name(let name), .service(_, _, _, let name), .mail(_, let name): name.wire.count
        case .text(let bytes), .opaque(let bytes): bytes.count
        case .authority(let authority): authority.server.wire.count + authority.mailbox.wire.count
        case .next(let name, let types): name.wire.count + 2 * types.count
        case .binding(let binding): binding.parameters.reduce(256) { $0 + 48 + $1.value.count }
        }
    }
}

/// A SOA record's content (RFC 1035 §3.3.13). Times are in seconds.
package struct DNSAuthority: Hashable, Sendable {
    package var server: DNSName
    package var mailbox: DNSName
    package var serial: UInt32
    package var refresh: UInt32
    package var retry: UInt32
    package var expire: UInt32
    /// Maximum time to cache a response which states that a name or type does not exist (RFC 2308 §4).
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

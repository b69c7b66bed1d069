public import Causeway
internal import CausewayRuntime
internal import CausewaySystem

/// DNS service discovery and record queries: as sequences that end when they are released, and as callbacks on a queue.
///
/// Corresponds to the operations of `dns_sd.h`: browse, resolve, query, get addresses, register services and records, enumerate domains,
/// reconfirm. Names in `local` are queried on the link with multicast DNS. All other names are queried from the host's name servers; the
/// query is repeated when an answer's TTL expires. All methods may be called from any task or thread and do not block. If an item appears
/// and disappears before the program reads the events, the program receives neither event.
public enum ServiceDiscovery {
    /// The identity of a service, independent of its current host, addresses and port. Store this value to find the service again later
    /// (RFC 6763 §4).
    public struct Identity: Hashable, Codable, Sendable {
        /// The instance name, such as `Lab Printer`.
        public var name: String
        /// The type, such as `_http._tcp`.
        public var type: String
        /// The domain; `local.` for the link.
        public var domain: String

        /// Creates an identity.
        public init(name: String, type: String, domain: String = "local.") {
            self.name = name
            self.type = type
            self.domain = domain
        }

        /// An endpoint for a connection to the service. The service is resolved when the connection starts.
        public var endpoint: NWEndpoint { .service(name: name, type: type, domain: domain, interface: nil) }
    }

    /// A change in the discovered services: one was added or removed.
    public enum Change<Element: Hashable & Sendable>: Hashable, Sendable {
        /// The element was added.
        case added(Element)
        /// The element was removed.
        case removed(Element)
    }

    /// A record from a response (RFC 1035 §3.2). Records with equal content are equal, regardless of their TTLs.
    public struct Record: Hashable, Sendable {
        /// The name in presentation format, with escapes and a trailing dot.
        public let name: String
        /// The record type, such as `SRV` or `TYPE65400`.
        public let type: String
        /// The TTL in seconds, as the owner of the record set it.
        public let timeToLive: Int
        /// The content in presentation format.
        public let content: String
        /// The interface on which the record was received; `nil` for records from name servers.
        public let interface: NWInterface?
        let found: RecordWatch.Record?

        /// Whether both records have the same name, type, content and interface. The TTLs are not compared.
        public static func == (left: Record, right: Record) -> Bool {
            left.name == right.name && left.type == right.type && left.content == right.content
                && left.interface == right.interface
        }

        /// Hashes the name, the type and the content.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(type)
            hasher.combine(content)
        }
    }

    /// A service's location and TXT record.
    public struct Place: Hashable, Sendable {
        /// The host name in presentation format.
        public let host: String
        /// The port of the service.
        public let port: NWEndpoint.Port
        /// The TXT record of the service.
        public let text: NWTXTRecord
        /// The addresses of the host. A link-local IPv6 address also contains the interface on which it is valid.
        public let addresses: [NWEndpoint.Host]

        /// Hashes the host and the port. Equality also compares the TXT record and the addresses.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(host)
            hasher.combine(port)
        }
    }

    /// The kind of domains to query (RFC 6763 §11).
    public enum DomainKind: String, Sendable {
        /// The recommended domains for browsing (`b._dns-sd._udp`).
        case browsing = "b"
        /// The default domain for browsing (`db._dns-sd._udp`).
        case defaultBrowsing = "db"
        /// The recommended domains for registration (`r._dns-sd._udp`).
        case registration = "r"
        /// The default domain for registration (`dr._dns-sd._udp`).
        case defaultRegistration = "dr"
        /// The domains for legacy (automatic) browsing (`lb._dns-sd._udp`).
        case legacyBrowsing = "lb"
    }

    /// A running operation. It ends when it is stopped or released.
    public final class Operation: Sendable {
        private let ending: LockedValue<(@Sendable () -> Void)?>

        init(_ stop: @escaping @Sendable () -> Void) { ending = LockedValue(stop) }

        deinit { stop() }

        /// Stops the operation. If the program calls this method on the handler's queue, the handler is not called
        /// again.
        public func stop() { ending.withLock { $0.take() }?() }
    }

    /// Reports a record that seems to be wrong. The record is queried again, and removed within ten seconds unless its
    /// owner confirms it (RFC 6762 §10.4). This method has no effect on records from name servers.
    public static func reconfirm(_ record: Record) {
        if let found = record.found { BonjourEngine.shared.reconfirm(found) }
    }
}

extension ServiceDiscovery.Change: DiscoveryEvent {
    static var isLatestOnly: Bool { false }

    var opposite: Self? {
        switch self {
        case .added(let element): .removed(element)
        case .removed(let element): .added(element)
        }
    }
}

extension ServiceDiscovery.Place: DiscoveryEvent {
    static var isLatestOnly: Bool { true }
    var opposite: Self? { nil }
}

extension ServiceDiscovery.Record {
    init(_ found: RecordWatch.Record) {
        self.init(
            name: found.name, type: found.type, timeToLive: Int(found.timeToLive), content: found.content,
            interface: found.interface, found: found)
    }
}

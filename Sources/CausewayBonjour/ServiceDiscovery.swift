public import Causeway
internal import CausewayRuntime
internal import CausewaySystem

/// Discovery of services by name, type and record: as sequences that end when nobody listens any more, and as callbacks on a queue.
///
/// These stand for the operations of `dns_sd.h`: browse, resolve, query, get addresses, register services and records, enumerate
/// domains, reconfirm. Names in `local` are asked for on the link by multicast DNS, all others of the host's name servers; what
/// those say is asked for anew when its time is over. Every method may be called from any task or thread; nothing blocks. A program
/// that takes its news slowly is not told of what came and went meanwhile.
public enum ServiceDiscovery {
    /// Which service is meant, whatever its host, addresses and port are at the time: what to save (RFC 6763 §4).
    public struct Identity: Hashable, Codable, Sendable {
        public var name: String
        /// Such as `_http._tcp`.
        public var type: String
        public var domain: String

        public init(name: String, type: String, domain: String = "local.") {
            self.name = name
            self.type = type
            self.domain = domain
        }

        /// For a connection to wherever the service is then.
        public var endpoint: NWEndpoint { .service(name: name, type: type, domain: domain, interface: nil) }
    }

    /// What comes or goes.
    public enum Change<Element: Hashable & Sendable>: Hashable, Sendable {
        case added(Element)
        case removed(Element)
    }

    /// A record as it was found (RFC 1035 §3.2). Two that say the same are equal, however long they hold.
    public struct Record: Hashable, Sendable {
        /// In presentation form, with escapes and a last dot.
        public let name: String
        /// Such as `SRV`, or `TYPE65400`.
        public let type: String
        /// In seconds, as its owner says.
        public let timeToLive: Int
        /// The content as tools write it.
        public let content: String
        /// Where it was heard; `nil` for what name servers say.
        public let interface: NWInterface?
        let found: RecordWatch.Record?

        public static func == (left: Record, right: Record) -> Bool {
            left.name == right.name && left.type == right.type && left.content == right.content
                && left.interface == right.interface
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(type)
            hasher.combine(content)
        }
    }

    /// Where a service is, and what it says of itself.
    public struct Place: Hashable, Sendable {
        /// In presentation form.
        public let host: String
        public let port: NWEndpoint.Port
        public let text: NWTXTRecord
        /// Where it can be reached; link-local IPv6 addresses have their interface.
        public let addresses: [NWEndpoint.Host]

        public func hash(into hasher: inout Hasher) {
            hasher.combine(host)
            hasher.combine(port)
        }
    }

    /// Which domains are asked for (RFC 6763 §11).
    public enum DomainKind: String, Sendable {
        case browsing = "b"
        case defaultBrowsing = "db"
        case registration = "r"
        case defaultRegistration = "dr"
        case legacyBrowsing = "lb"
    }

    /// Something that goes on, and calls back, until it is stopped or nobody holds it any more.
    public final class Operation: Sendable {
        private let ending: LockedValue<(@Sendable () -> Void)?>

        init(_ stop: @escaping @Sendable () -> Void) { ending = LockedValue(stop) }

        deinit { stop() }

        /// Ends it. On the queue of its handler, no call follows.
        public func stop() { ending.withLock { $0.take() }?() }
    }

    /// Says that a record turned out not to hold: it is asked for again, and goes within ten seconds unless its owner confirms it
    /// (RFC 6762 §10.4). Without effect for what name servers say.
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

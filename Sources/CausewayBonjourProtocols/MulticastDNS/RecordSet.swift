package import CausewayWire

/// One registration's records.
///
/// A service's records are created each time they are needed, from its name, host and attributes. A service has at
/// least four records. With thousands of services, storing these records would take much memory.
package struct RecordSet: Sendable {
    private enum Content: Sendable {
        case list([DNSRecord])
        case service(DNSName, host: DNSName, ServiceAttributes)
    }

    private let content: Content

    /// Creates a set from a list. Unique records have ``DNSRecord/flushesCache`` set.
    package init(_ records: [DNSRecord]) { content = .list(records) }

    /// Creates a service's records (RFC 6763): one SRV record, one TXT record, and several PTR records. There is a PTR
    /// record for the service type, one for each subtype, and one that adds the type to the list of service types.
    package init(_ instance: DNSName, on host: DNSName, _ terms: ServiceAttributes) {
        content = .service(instance, host: host, terms)
    }

    /// The records. For a service, each access builds a new array.
    package var records: [DNSRecord] {
        switch content {
        case .list(let records): records
        case .service(let instance, let host, let terms): terms.records(of: instance, on: host)
        }
    }
}

/// A service's attributes, except its instance name and host name (RFC 6763). Services with equal attributes can share one object.
package final class ServiceAttributes: Sendable, Equatable {
    /// The service type, such as `_http._tcp.local`.
    package let type: DNSName
    /// The subtypes that list the service (RFC 6763 §7.1).
    private let lists: [DNSName]
    package let port: UInt16
    /// TXT data: strings with length bytes. Without strings, the record contains one empty string (RFC 6763 §6.1).
    private let text: [UInt8]

    package init(type: DNSName, subtypes: [String], port: UInt16, text: [UInt8]) {
        self.type = type
        let parent = DNSName("_sub", in: type)
        lists = subtypes.compactMap { subtype in parent.flatMap { DNSName(subtype, in: $0) } }
        self.port = port
        self.text = text.isEmpty ? [0] : text
    }

    private init(_ other: ServiceAttributes, port: UInt16, text: [UInt8]) {
        (type, lists, self.port) = (other.type, other.lists, port)
        self.text = text.isEmpty ? [0] : text
    }

    /// Returns the attributes with another TXT record.
    package func saying(_ text: [UInt8]) -> ServiceAttributes { ServiceAttributes(self, port: port, text: text) }

    /// Returns the attributes with another port.
    package func listening(on port: UInt16) -> ServiceAttributes { ServiceAttributes(self, port: port, text: text) }

    package static func == (left: ServiceAttributes, right: ServiceAttributes) -> Bool {
        left === right
            || (left.type == right.type && left.lists == right.lists && left.port == right.port
                && left.text == right.text)
    }

    fileprivate func records(of instance: DNSName, on host: DNSName) -> [DNSRecord] {
        let time = MulticastDNS.otherTimeToLive
        var records = [
            DNSRecord(
                instance, .srv, flushesCache: true, timeToLive: MulticastDNS.hostTimeToLive,
                .service(priority: 0, weight: 0, port: port, target: host)),
            DNSRecord(instance, .txt, flushesCache: true, timeToLive: time, .text(text)),
            DNSRecord(type, .ptr, timeToLive: time, .name(instance)),
            DNSRecord(MulticastDNS.types, .ptr, timeToLive: time, .name(type)),
        ]
        for list in lists { records.append(DNSRecord(list, .ptr, timeToLive: time, .name(instance))) }
        return records
    }
}

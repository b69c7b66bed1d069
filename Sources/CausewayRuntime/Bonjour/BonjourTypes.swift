package import CausewayTypes
package import CausewayWire
internal import CausewayProtocols

/// A service as it is advertised (RFC 6763).
package struct ServiceDescription: Sendable, Equatable {
    /// Any text of at most 63 octets, in normal form C.
    package var name: String
    private var shared: Shared

    /// Everything but the name.
    private struct Terms: Sendable, Equatable {
        var type: DNSName
        var domain: DNSName?
        var subtypes: [String] = []
        var port: UInt16
        var text: [UInt8] = [0]
        var mayRename: Bool
        var interfaceIndex: Int?
        /// What is advertised in the place of a service.
        var given: [DNSRecord] = []
    }

    /// Thousands of services that are copies of one differ by their names, and have the rest in common.
    private final class Shared: Sendable, Equatable {
        let terms: Terms

        init(_ terms: Terms) { self.terms = terms }

        static func == (left: Shared, right: Shared) -> Bool { left === right || left.terms == right.terms }
    }

    /// - Parameters:
    ///   - subtypes: Labels under which it can be found as well (RFC 6763 §7.1).
    ///   - text: Strings behind their lengths.
    ///   - mayRename: Whether another name may be chosen when somebody else has it.
    ///   - interfaceIndex: The only interface to advertise on.
    package init(
        name: String, type: DNSName, subtypes: [String] = [], port: UInt16, text: [UInt8] = [], mayRename: Bool = true,
        interfaceIndex: Int? = nil
    ) {
        self.name = ServiceNames.normal(name)
        shared = Shared(
            Terms(
                type: type, domain: type.appending(.local), subtypes: subtypes, port: port, text: Self.whole(text),
                mayRename: mayRename, interfaceIndex: interfaceIndex))
    }

    /// A single record, under whatever name it has.
    package init(record: DNSRecord, interfaceIndex: Int? = nil) {
        self.init(records: [record], interfaceIndex: interfaceIndex)
        name = record.name.description
    }

    /// Any records, each under its own name.
    package init(records: [DNSRecord], interfaceIndex: Int?) {
        name = ""
        shared = Shared(
            Terms(type: .local, port: 0, mayRename: false, interfaceIndex: interfaceIndex, given: records))
    }

    /// No strings at all are an empty one (RFC 6763 §6.1).
    private static func whole(_ text: [UInt8]) -> [UInt8] { text.isEmpty ? [0] : text }

    /// Such as `_http._tcp`.
    package var type: DNSName { shared.terms.type }

    var mayRename: Bool { shared.terms.mayRename }

    var interfaceIndex: Int? { shared.terms.interfaceIndex }

    /// Exchanges what it says of itself.
    mutating func exchange(text: [UInt8]) {
        var terms = shared.terms
        terms.text = Self.whole(text)
        shared = Shared(terms)
    }

    /// - Throws: ``DNSServiceType/Mistake`` for a text that names no type, and for a name that no service can have: an empty one, one
    ///   with control characters, or one that would have to be shortened and may not be.
    package init(
        name: String, typeText: String, port: UInt16, text: [UInt8], mayRename: Bool = true, interfaceIndex: Int? = nil
    ) throws(DNSServiceType.Mistake) {
        let type = try DNSServiceType(typeText)
        self.init(
            name: "", type: type.name, subtypes: type.subtypes, port: port, text: text, mayRename: mayRename,
            interfaceIndex: interfaceIndex)
        try rename(to: name)
    }

    /// Gives the service another name. Copies under many names share what else they say.
    package mutating func rename(to name: String) throws(DNSServiceType.Mistake) {
        let normal = ServiceNames.normal(name)
        let isLong = normal.utf8.count < name.utf8.count && name.utf8.count > 63
        guard ServiceNames.isValid(name), mayRename || !isLong else { throw .name }
        self.name = normal
    }

    /// The records of the service on a host.
    package func records(on host: DNSName) -> [DNSRecord] {
        let terms = shared.terms
        if !terms.given.isEmpty { return terms.given }
        guard let domain = terms.domain, let instance = DNSName(name, in: domain) else { return [] }
        let time = MulticastDNS.otherTimeToLive
        var records = [
            DNSRecord(
                instance, .srv, flushesCache: true, timeToLive: MulticastDNS.hostTimeToLive,
                .service(priority: 0, weight: 0, port: terms.port, target: host)),
            DNSRecord(instance, .txt, flushesCache: true, timeToLive: time, .text(terms.text)),
            DNSRecord(domain, .ptr, timeToLive: time, .name(instance)),
            DNSRecord(MulticastDNS.types, .ptr, timeToLive: time, .name(domain)),
        ]
        for subtype in terms.subtypes {
            guard let parent = DNSName(labels: [Array("_sub".utf8)])?.appending(domain),
                let name = DNSName(subtype, in: parent)
            else { continue }
            records.append(DNSRecord(name, .ptr, timeToLive: time, .name(instance)))
        }
        return records
    }
}

/// What became of a service that is advertised.
package enum ServiceEvent: Sendable, Equatable {
    /// It has this name now.
    case registered(name: String)
    case removed(name: String)
    /// The name is somebody else's, and no other may be chosen.
    case failed
    /// Another program has port 5353 for itself: nobody could ask this one.
    case portTaken
}

/// What is new of a question.
package struct QuestionEvent: Sendable {
    package var interface: NWInterface
    package var added: [DNSRecord]
    package var removed: [DNSRecord]
    /// Whether the owner of the name says that it has no record of the type (RFC 6762 §6.1).
    package var isDenied = false
}

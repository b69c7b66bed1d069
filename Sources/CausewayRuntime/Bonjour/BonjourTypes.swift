package import CausewayBonjourProtocols
package import CausewayTypes
package import CausewayWire

/// An advertised service (RFC 6763).
package struct ServiceDescription: Sendable, Equatable {
    /// The service's name: any text of at most 63 bytes in Unicode normal form C.
    package var name: String
    private var content: Content
    /// Whether the engine may rename the service after a name conflict.
    package let mayRename: Bool
    /// The index of the only interface for the service. 0 means all interfaces.
    private let onlyInterface: UInt32
    /// A unique host name that only this service uses; `nil` to use this host's name. With such a host name, neither
    /// the host name nor the service's name is probed (RFC 6762 §8.1).
    package var ownHost: DNSName?

    private enum Content: Sendable, Equatable {
        /// An advertised service, with its attributes. Descriptions that differ only in the name share one attributes
        /// object.
        case service(ServiceAttributes)
        /// Plain DNS records. They are registered instead of a service.
        case records([DNSRecord])
    }

    /// - Parameters:
    ///   - type: The service type, such as `_http._tcp`.
    ///   - subtypes: Subtype labels (RFC 6763 §7.1).
    ///   - text: The TXT record: strings with length bytes.
    package init(
        name: String, type: DNSName, subtypes: [String] = [], port: UInt16, text: [UInt8] = [], mayRename: Bool = true,
        interfaceIndex: Int? = nil
    ) {
        self.name = BonjourNames.normal(name)
        let list = type.appending(.local)
        content =
            list.map { .service(ServiceAttributes(type: $0, subtypes: subtypes, port: port, text: text)) }
            ?? .records([])
        self.mayRename = mayRename
        onlyInterface = interfaceIndex.flatMap { UInt32(exactly: $0) } ?? 0
    }

    /// Creates a description for a single record. The record is advertised under its own name. A name conflict ends the
    /// registration instead of changing the name.
    package init(record: DNSRecord, interfaceIndex: Int? = nil) {
        self.init(records: [record], interfaceIndex: interfaceIndex)
        name = record.name.description
    }

    /// Creates a description for arbitrary records. Each keeps its own name.
    package init(records: [DNSRecord], interfaceIndex: Int?) {
        name = ""
        content = .records(records)
        mayRename = false
        onlyInterface = interfaceIndex.flatMap { UInt32(exactly: $0) } ?? 0
    }

    /// The index of the service's only interface; `nil` for all interfaces.
    var interfaceIndex: Int? { onlyInterface == 0 ? nil : Int(onlyInterface) }

    /// The service's port; 0 for other records.
    package var port: UInt16 {
        get { if case .service(let terms) = content { terms.port } else { 0 } }
        set { if case .service(let terms) = content { content = .service(terms.listening(on: newValue)) } }
    }

    /// Replaces a service's TXT record.
    mutating func exchange(text: [UInt8]) {
        if case .service(let terms) = content { content = .service(terms.saying(text)) }
    }

    /// - Throws: ``DNSServiceType/Mistake`` for a malformed type or an invalid name. A name is invalid if it is empty,
    ///   contains control characters, or is too long while `mayRename` is `false`.
    package init(
        name: String, typeText: String, port: UInt16, text: [UInt8], mayRename: Bool = true, interfaceIndex: Int? = nil
    ) throws(DNSServiceType.Mistake) {
        let type = try DNSServiceType(typeText)
        self.init(
            name: "", type: type.name, subtypes: type.subtypes, port: port, text: text, mayRename: mayRename,
            interfaceIndex: interfaceIndex)
        try rename(to: name)
    }

    /// Renames the service. The type, the port and the TXT record are in an object that copies of this description
    /// share. Renaming does not copy this object.
    ///
    /// - Throws: ``DNSServiceType/Mistake/name`` for an invalid name, or for a name that is too long if ``mayRename``
    ///   is `false`.
    package mutating func rename(to name: String) throws(DNSServiceType.Mistake) {
        let normal = BonjourNames.normal(name)
        let isLong = normal.utf8.count < name.utf8.count && name.utf8.count > 63
        guard BonjourNames.isValid(name), mayRename || !isLong else { throw .name }
        self.name = normal
    }

    /// Returns the service's records for a host with this name.
    package func records(on host: DNSName) -> RecordSet {
        switch content {
        case .records(let records): RecordSet(records)
        case .service(let terms):
            DNSName(name, in: terms.type).map { RecordSet($0, on: ownHost ?? host, terms) } ?? RecordSet([])
        }
    }
}

/// A change to an advertised service.
package enum ServiceEvent: Sendable, Equatable {
    /// The service is registered with this name.
    case registered(name: String)
    case removed(name: String)
    /// Another host already uses the name, and renaming is not allowed.
    case failed
    /// Another program uses port 5353 exclusively, so queries cannot arrive.
    case portTaken
}

/// A change in the answers to a question.
package struct QuestionEvent: Sendable {
    package var interface: NWInterface
    package var added: [DNSRecord]
    package var removed: [DNSRecord]
    /// Whether the owner of the name states that it has no record of this type (RFC 6762 §6.1).
    package var isDenied = false
}

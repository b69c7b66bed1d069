package import CausewayProtocols
package import CausewayTypes
package import CausewayWire

/// A service as it is advertised (RFC 6763).
package struct ServiceDescription: Sendable, Equatable {
    /// Any text of at most 63 bytes, in normal form C.
    package var name: String
    private var content: Content
    /// Whether another name may be chosen when somebody else has it.
    package let mayRename: Bool
    /// 0 for all.
    private let onlyInterface: UInt32

    private enum Content: Sendable, Equatable {
        /// Copies under many names have the same terms.
        case service(ServiceAttributes)
        /// What is advertised in the place of a service.
        case records([DNSRecord])
    }

    /// - Parameters:
    ///   - type: Such as `_http._tcp`.
    ///   - subtypes: Labels under which it can be found as well (RFC 6763 §7.1).
    ///   - text: Strings behind their lengths.
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

    /// A single record, under whatever name it has.
    package init(record: DNSRecord, interfaceIndex: Int? = nil) {
        self.init(records: [record], interfaceIndex: interfaceIndex)
        name = record.name.description
    }

    /// Any records, each under its own name.
    package init(records: [DNSRecord], interfaceIndex: Int?) {
        name = ""
        content = .records(records)
        mayRename = false
        onlyInterface = interfaceIndex.flatMap { UInt32(exactly: $0) } ?? 0
    }

    /// The only interface to advertise on.
    var interfaceIndex: Int? { onlyInterface == 0 ? nil : Int(onlyInterface) }

    /// Where the service is; 0 for what is no service.
    package var port: UInt16 {
        get { if case .service(let terms) = content { terms.port } else { 0 } }
        set { if case .service(let terms) = content { content = .service(terms.listening(on: newValue)) } }
    }

    /// Exchanges what a service says of itself.
    mutating func exchange(text: [UInt8]) {
        if case .service(let terms) = content { content = .service(terms.saying(text)) }
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
        let normal = BonjourNames.normal(name)
        let isLong = normal.utf8.count < name.utf8.count && name.utf8.count > 63
        guard BonjourNames.isValid(name), mayRename || !isLong else { throw .name }
        self.name = normal
    }

    /// The records of the service on a host.
    package func records(on host: DNSName) -> RecordSet {
        switch content {
        case .records(let records): RecordSet(records)
        case .service(let terms):
            DNSName(name, in: terms.type).map { RecordSet($0, on: host, terms) } ?? RecordSet([])
        }
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

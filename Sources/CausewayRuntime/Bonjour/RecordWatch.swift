internal import CausewayBonjourProtocols
internal import CausewaySystem
package import CausewayTypes
package import CausewayWire

/// Monitors one name's records on this host's links. Results are plain values, for display and for programs that browse
/// records other than services.
package struct RecordWatch: Sendable {
    /// A record from the answers.
    package struct Record: Sendable, Hashable {
        package var name: String
        package var type: String
        package var timeToLive: UInt32
        /// The record's content as text, in the format that DNS tools use.
        package var content: String
        /// The domain name in the record's content; `nil` for record types whose content has no name.
        package var target: DNSName?
        package var interface: NWInterface
        let record: DNSRecord
    }

    package enum Event: Sendable {
        case added(Record)
        case removed(Record)
        /// The name's owner states that it has no record of this type.
        case denied
    }

    package enum Mistake: Error, Equatable, Sendable {
        /// The text is not a domain name.
        case name
        /// The text is neither a known record type nor `TYPE` with a number.
        case type
    }

    private let question: DNSQuestion
    private let interfaceIndex: Int?

    /// Creates a watch for the records of a name and type.
    ///
    /// - Throws: ``Mistake`` for an invalid name or type.
    package init(name: String, type: String, interfaceIndex: Int? = nil) throws(Mistake) {
        guard let name = DNSName(name) else { throw .name }
        guard let type = DNSRecordType(type) else { throw .type }
        self.init(name, type, interfaceIndex: interfaceIndex)
    }

    package init(_ name: DNSName, _ type: DNSRecordType, interfaceIndex: Int? = nil) {
        question = DNSQuestion(name, type)
        self.interfaceIndex = interfaceIndex
    }

    /// Whether multicast DNS resolves the name (RFC 6762 §3, §4). DNS servers resolve all other names.
    package var isOfLink: Bool { question.name.isOfLink }

    /// Returns a stream of changes. The stream ends when `limit` has passed, or when the consumer stops reading.
    ///
    /// - Parameter gathering: How long the stream continues after the first answer. `nil` means no such limit.
    package func events(
        for limit: Duration? = nil, after gathering: Duration? = nil, of engine: BonjourEngine = .shared
    ) -> AsyncStream<Event> {
        let (events, feed) = AsyncStream<Event>.makeStream()
        let id = engine.ask(question, on: interfaceIndex) { changes in
            for record in changes.removed { feed.yield(.removed(Record(record, changes.interface))) }
            for record in changes.added { feed.yield(.added(Record(record, changes.interface))) }
            if changes.isDenied { feed.yield(.denied) }
            if let gathering { _ = engine.loop.schedule(after: gathering) { feed.finish() } }
        }
        let timer = limit.map { engine.loop.schedule(after: $0) { feed.finish() } }
        feed.onTermination = { _ in
            engine.stop(id)
            if let timer { engine.loop.cancel(timer) }
        }
        return events
    }

    /// Reports changes to a handler. The engine's loop calls the handler, once for all changes that arrive together.
    package func follow(
        of engine: BonjourEngine = .shared, _ handler: @escaping @Sendable ([Event]) -> Void
    ) -> Watching {
        let id = engine.ask(question, on: interfaceIndex) { changes in
            handler(
                changes.removed.map { .removed(Record($0, changes.interface)) }
                    + changes.added.map { .added(Record($0, changes.interface)) } + (changes.isDenied ? [.denied] : []))
        }
        return Watching(engine: engine, id: id)
    }

    /// A query that is running. The program can stop it.
    package struct Watching: Sendable {
        let engine: BonjourEngine
        let id: QuestionID

        package func stop() { engine.stop(id) }
    }
}

extension RecordWatch.Record {
    fileprivate init(_ record: DNSRecord, _ interface: NWInterface) {
        name = record.name.description
        type = record.type.description
        timeToLive = record.timeToLive
        content = record.data.description
        switch record.data {
        case .name(let name), .service(_, _, _, let name): target = name
        default: target = nil
        }
        self.interface = interface
        self.record = record
    }
}

extension DNSName {
    /// Whether the name is resolved on the link: names in `local`, and reverse names of link-local addresses (RFC 6762
    /// §3, §4).
    package var isOfLink: Bool { Self.linkDomains.contains { isWithin($0) } }

    private static let linkDomains: [DNSName] =
        [.local, "254.169.in-addr.arpa"] + ["8", "9", "a", "b"].compactMap { DNSName("\($0).e.f.ip6.arpa") }
}

extension BonjourEngine {
    /// Asks the hosts on the link to confirm a record that proved wrong.
    ///
    /// If no host confirms the record within ten seconds, it is removed (RFC 6762 §10.4).
    package func reconfirm(_ found: RecordWatch.Record) {
        loop.execute {
            self.state.value.links[found.interface.index]?.machine.reconfirm(found.record, at: System.now)
            self.settle()
        }
    }
}

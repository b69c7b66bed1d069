package import CausewayProtocols
package import CausewayTypes
package import CausewayWire

/// Changes in a name's records.
package struct RecordChanges: Sendable {
    /// The interface on which the records were found; `nil` for answers from DNS servers.
    package var interface: NWInterface?
    package var added: [DNSRecord]
    package var removed: [DNSRecord]
}

/// A query that continues until it is stopped. It uses multicast DNS for names on the link, and DNS servers for other
/// names (RFC 6763 §10).
package struct RecordQuestion: Sendable {
    package let stop: @Sendable () -> Void

    /// - Parameters:
    ///   - name: The name to query.
    ///   - type: The record type.
    ///   - interface: The only interface to use; `nil` for all.
    ///   - engine: The engine for names on the link.
    ///   - failed: Called with the failure if no DNS server answers the first query, and with `nil` if a server answers
    ///     after that.
    ///   - handler: Called on a loop, one call at a time.
    package init(
        _ name: DNSName, _ type: DNSRecordType, on interface: NWInterface? = nil, of engine: BonjourEngine = .shared,
        failed: @escaping @Sendable (NameProblem?) -> Void = { _ in },
        _ handler: @escaping @Sendable (RecordChanges) -> Void
    ) {
        guard name.isOfLink else {
            let watch = WideAreaWatch(name, type, on: interface, failed: failed, handler)
            watch.begin()
            stop = { watch.end() }
            return
        }
        let id = engine.ask(DNSQuestion(name, type), on: interface?.index) { event in
            handler(RecordChanges(interface: event.interface, added: event.added, removed: event.removed))
        }
        stop = { engine.stop(id) }
    }
}

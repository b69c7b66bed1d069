package import CausewayProtocols
package import CausewayTypes
package import CausewayWire

/// What is new of a name's records.
package struct RecordChanges: Sendable {
    /// Where they were heard; `nil` for those of name servers.
    package var interface: NWInterface?
    package var added: [DNSRecord]
    package var removed: [DNSRecord]
}

/// A question that is followed until it is stopped: on the link by multicast DNS, elsewhere by name servers (RFC 6763 §10).
package struct RecordQuestion: Sendable {
    package let stop: @Sendable () -> Void

    /// - Parameters:
    ///   - failed: Called where no name server answers the first question, and with `nil` when one does.
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

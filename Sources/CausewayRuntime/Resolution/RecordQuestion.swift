package import CausewayProtocols
package import CausewayTypes
package import CausewayWire

/// Changes in a name's records.
package struct RecordChanges: Sendable {
    /// The interface on which the records were found; `nil` for answers from DNS servers.
    package var interface: NWInterface?
    package var added: [DNSRecord]
    package var removed: [DNSRecord]

    package init(interface: NWInterface?, added: [DNSRecord], removed: [DNSRecord]) {
        self.interface = interface
        self.added = added
        self.removed = removed
    }
}

/// The interfaces over which a query is sent.
package struct QuestionScope: Sendable {
    /// The indices of the interfaces for names on the link; `nil` for all interfaces.
    package var interfaces: Set<Int>?
    /// Restricts the interfaces for queries to DNS servers, which resolve all other names.
    package var servers: ResolutionScope

    package init(interfaces: Set<Int>? = nil, servers: ResolutionScope = ResolutionScope()) {
        self.interfaces = interfaces
        self.servers = servers
    }
}

/// A query that continues until it is stopped. It uses multicast DNS for names on the link, and DNS servers for other
/// names (RFC 6763 §10).
package struct RecordQuestion: Sendable {
    package let stop: @Sendable () -> Void
    /// Sets the indices of the interfaces for a name on the link. The records of an added interface are reported, those
    /// of a removed interface are not reported as removed. No effect for other names.
    package let limit: @Sendable (Set<Int>) -> Void

    /// Creates a query that other code runs.
    package init(stop: @escaping @Sendable () -> Void, limit: @escaping @Sendable (Set<Int>) -> Void) {
        self.stop = stop
        self.limit = limit
    }

    /// - Parameters:
    ///   - name: The name to query.
    ///   - type: The record type.
    ///   - scope: The interfaces to use.
    ///   - engine: The engine for names on the link.
    ///   - failed: Called with the failure if no DNS server answers the first query, and with `nil` if a server answers
    ///     after that.
    ///   - handler: Called on a loop, one call at a time.
    package init(
        _ name: DNSName, _ type: DNSRecordType, in scope: QuestionScope, of engine: BonjourEngine = .shared,
        failed: @escaping @Sendable (NameProblem?) -> Void = { _ in },
        _ handler: @escaping @Sendable (RecordChanges) -> Void
    ) {
        guard name.isOfLink else {
            let watch = WideAreaWatch(name, type, in: scope.servers, failed: failed, handler)
            watch.begin()
            self.init(stop: { watch.end() }, limit: { _ in })
            return
        }
        let id = engine.ask(DNSQuestion(name, type), within: scope.interfaces) { event in
            handler(RecordChanges(interface: event.interface, added: event.added, removed: event.removed))
        }
        self.init(stop: { engine.stop(id) }, limit: { interfaces in engine.limit(id, to: interfaces) })
    }

    /// Creates a query over one interface.
    ///
    /// - Parameter interface: The only interface to use; `nil` for all.
    package init(
        _ name: DNSName, _ type: DNSRecordType, on interface: NWInterface? = nil, of engine: BonjourEngine = .shared,
        failed: @escaping @Sendable (NameProblem?) -> Void = { _ in },
        _ handler: @escaping @Sendable (RecordChanges) -> Void
    ) {
        var scope = QuestionScope(interfaces: interface.map { [$0.index] })
        scope.servers.required = interface
        self.init(name, type, in: scope, of: engine, failed: failed, handler)
    }
}

internal import CausewayWire

/// Caches the source addresses that the kernel selects.
///
/// A routing socket becomes readable when an address, route, rule or link changes. The cache is then cleared. The
/// socket is checked only when the cache is used, so changes do not wake a thread.
package struct SourceAddressMemory: ~Copyable, Sendable {
    private struct Question: Hashable {
        var destination: SocketAddress
        var interface: String?
    }

    /// The maximum number of cached destinations. A full cache is cleared.
    private static let limit = 1_024
    /// The maximum number of notifications to read at a time. If more are pending, the cache is cleared without reading
    /// them.
    private static let changeLimit = 16

    private var changes: NetlinkSocket?
    private var buffer: [UInt8] = []
    private var assigned: [NetlinkAddress]?
    private var known: [Question: SourceAddress?] = [:]

    package init() {}

    /// Returns the source address for each destination, as ``SourceAddress/toward(_:over:)`` does. Queries the kernel
    /// only for destinations whose source address is not cached.
    package mutating func sources(toward destinations: [SocketAddress], over interface: String?) -> [SourceAddress?] {
        refresh()
        return destinations.map { destination in
            // Routing rules may depend on the port, so the port is part of the cache key. connect(2) rejects port 0, so
            // use another port in its place.
            let place = destination.port == 0 ? destination.with(port: 9) : destination
            let question = Question(destination: place, interface: interface)
            if let source = known[question] { return source }
            let source = ask(question)
            if known.count >= Self.limit { known = [:] }
            known.updateValue(source, forKey: question)
            return source
        }
    }

    private mutating func refresh() {
        if hasChanged() { (assigned, known) = (nil, [:]) }
        guard changes == nil else { return }
        // Open the netlink socket before the first query, so that it reports every later change.
        changes = try? NetlinkSocket(groups: .all, blocking: false)
        buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSize)
    }

    private mutating func hasChanged() -> Bool {
        guard changes != nil else { return true }
        var hasChanged = false
        for _ in 0..<Self.changeLimit {
            switch try? changes?.receive(into: &buffer) {
            case .datagram(let count):
                hasChanged = hasChanged || NetlinkMessage.affectReachability(buffer.span.extracting(first: count))
            case .truncated, .overrun: hasChanged = true
            case .nothing: return hasChanged
            case nil:
                // The routing socket has failed, so it may miss changes. Close it here. The caller then opens a new
                // one.
                changes = nil
                return true
            }
        }
        return true
    }

    private mutating func ask(_ question: Question) -> SourceAddress? {
        guard let local = SourceAddress.local(toward: question.destination, over: question.interface) else {
            return nil
        }
        let assigned = assigned ?? SourceAddress.assigned()
        self.assigned = assigned
        let entry = assigned.first { $0.address == local }
        return SourceAddress(
            address: local, prefixLength: entry?.prefixLength ?? local.family.bitWidth,
            isDeprecated: entry?.flags.contains(.deprecated) ?? false)
    }
}

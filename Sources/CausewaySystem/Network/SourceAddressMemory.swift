internal import CausewayWire

/// What the kernel has said about source addresses, for as long as it holds.
///
/// The kernel's word is asked for once: a routing socket beside it has something to read as soon as an address, a route, a rule or a link is
/// another, and then everything is forgotten. Nobody wakes up for that: it is looked at when somebody asks.
package struct SourceAddressMemory: ~Copyable, Sendable {
    private struct Question: Hashable {
        var destination: SocketAddress
        var interface: String?
    }

    /// More destinations than this at a time are rare, and begin anew.
    private static let limit = 1_024
    /// Changes read at a time. Where more wait, all is forgotten anyway.
    private static let changeLimit = 16

    private var changes: NetlinkSocket?
    private var buffer: [UInt8] = []
    private var assigned: [NetlinkAddress]?
    private var known: [Question: SourceAddress?] = [:]

    package init() {}

    /// As ``SourceAddress/toward(_:over:)``.
    package mutating func sources(toward destinations: [SocketAddress], over interface: String?) -> [SourceAddress?] {
        refresh()
        return destinations.map { destination in
            // The port stays, for rules of routing may name it; but 0 cannot be connected to.
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
        // Before anything is asked: what changes from now on is heard of.
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
                // Of no more use: the next one is asked from the beginning.
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

internal import CausewayMachines
internal import CausewayTypes
package import CausewayWire

/// Registers this host's records with a sleep proxy, which answers for the host while it sleeps.
///
/// While the host is awake, the client looks for sleep proxies on the link. Just before the host sleeps, it sends the
/// records to the best proxy in a DNS update (RFC 2136). The update has an owner option (``DNSOwner``), which describes
/// how to wake the host, and a lease time (RFC 9664). The client then reports whether a proxy accepted the records. If
/// none did, the host must send goodbye packets.
///
/// The client does no I/O and reads no clock. Its owner performs the actions, passes answers and replies to the client,
/// and calls ``advance(to:)`` at ``deadline``.
package struct SleepProxyClient: Sendable {
    package enum Action: Equatable, Sendable {
        case ask(DNSQuestion)
        case stop(DNSQuestion)
        case send([UInt8], to: MulticastPeer)
        /// A proxy accepted all records. It answers for them until the host wakes or the lease ends.
        case registered(leaseSeconds: UInt32)
        /// No proxy accepted the records, or none is known.
        case failed
    }

    /// A host's records and the owner option that says how to wake it.
    package struct Registration: Sendable {
        package var records: [DNSRecord]
        package var owner: DNSOwner

        package init(_ records: [DNSRecord], of owner: DNSOwner) {
            self.records = records
            self.owner = owner
        }
    }

    package static let type: DNSName = "_sleep-proxy._udp.local"
    /// Requested lease time in seconds. The host cannot renew the lease while it sleeps.
    package static let leaseSeconds: UInt32 = 86_400
    /// Maximum number of known proxies. A better proxy replaces the worst one.
    static let proxyLimit = 64
    /// Maximum number of proxies whose addresses are queried: the best ones.
    static let locatedLimit = 16
    /// Maximum number of proxies to try. If none accepts the records, the host sleeps without a proxy.
    static let attemptLimit = 2
    /// Retransmission interval. It is short, because the host is about to sleep.
    static let retryInterval: Duration = .milliseconds(100)
    /// Maximum number of transmissions per proxy.
    static let sendLimit = 3
    /// Maximum number of update messages. Sending more would take too long.
    static let messageLimit = 64

    struct Proxy: Sendable {
        var metrics: SleepProxyMetrics
        /// Whether the proxy's address is queried, because it is one of the best.
        var isLocated = false
        var locations: [DNSRecord] = []
        var target: DNSName? {
            if case .service(_, _, _, let target)? = locations.last?.data { target } else { nil }
        }
        var port: UInt16 {
            if case .service(_, _, let port, _)? = locations.last?.data { port } else { 0 }
        }
    }

    /// A pending registration with one proxy.
    struct Conversation: Sendable {
        var registration: Registration
        var peer: MulticastPeer
        /// Messages that the proxy has not confirmed yet, by message ID.
        var messages: [UInt16: [UInt8]]
        var sent = 1
        var due: Duration
        /// The shortest lease granted so far, in seconds.
        var lease: UInt32 = .max
    }

    var proxies: [DNSName: Proxy] = [:]
    var addresses: [DNSName: [DNSRecordData]] = [:]
    var conversation: Conversation?
    /// Proxies already tried for this sleep.
    var tried: Set<MulticastPeer> = []
    var actions: [Action] = []
    private var isStarted = false
    /// Maximum message size in bytes.
    package var messageByteLimit = MulticastDNS.messageByteLimit
    private var random: any RandomNumberGenerator & Sendable

    package init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.random = random
    }

    /// Starts the query for sleep proxies. Later calls have no effect.
    package mutating func start() {
        guard !isStarted else { return }
        isStarted = true
        actions.append(.ask(DNSQuestion(Self.type, .ptr)))
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Addresses of known proxies, best first.
    package var reachable: [MulticastPeer] {
        ranked.compactMap { _, proxy in
            guard let target = proxy.target, proxy.port != 0 else { return nil }
            return addresses[target]?.compactMap { $0.peer(port: proxy.port) }.min(by: Self.precedes)
        }
    }

    /// The known proxies, best first.
    var ranked: [(name: DNSName, proxy: Proxy)] {
        proxies.sorted(by: Self.isBetter).map { ($0.key, $0.value) }
    }

    /// The name of the last proxy in ``ranked``, found without sorting.
    var worst: DNSName? { proxies.max(by: Self.isBetter)?.key }

    private static func isBetter(_ left: (key: DNSName, value: Proxy), _ right: (key: DNSName, value: Proxy)) -> Bool {
        guard left.value.metrics == right.value.metrics else { return left.value.metrics < right.value.metrics }
        return left.key.description < right.key.description
    }

    /// Whether `left` is preferred to `right`. IPv4 is preferred to IPv6, because an IPv4 address needs no scope.
    private static func precedes(_ left: MulticastPeer, _ right: MulticastPeer) -> Bool {
        switch (left.address, right.address) {
        case (.ipv4(let left), .ipv4(let right)): left.bits < right.bits
        case (.ipv6(let left), .ipv6(let right)): (left.high, left.low) < (right.high, right.low)
        case (.ipv4, .ipv6): true
        case (.ipv6, .ipv4): false
        }
    }

    // MARK: Sleep

    /// Registers the records before the host sleeps. The action `registered` or `failed` reports the result. Without a
    /// known proxy, `failed` is available when this method returns.
    package mutating func sleep(_ registration: Registration, at now: Duration) {
        guard conversation == nil else { return }
        tried = []
        converse(registration, at: now)
    }

    /// Abandons a pending registration, because the host is awake again.
    package mutating func wake() { conversation = nil }

    /// Sends the updates to the best proxy not tried yet, or reports failure.
    mutating func converse(_ registration: Registration, at now: Duration) {
        conversation = nil
        guard tried.count < Self.attemptLimit, let peer = reachable.first(where: { !tried.contains($0) }),
            let messages = messages(registration)
        else { return actions.append(.failed) }
        tried.insert(peer)
        conversation = Conversation(
            registration: registration, peer: peer, messages: messages, due: now + Self.retryInterval)
        say()
    }

    private mutating func say() {
        guard let conversation else { return }
        for (_, bytes) in conversation.messages.sorted(by: { $0.key < $1.key }) {
            actions.append(.send(bytes, to: conversation.peer))
        }
    }

    /// Encodes the records into as few updates as possible, by message ID. Returns `nil` if there are no records or too many.
    private mutating func messages(_ registration: Registration) -> [UInt16: [UInt8]]? {
        var extensions = DNSExtensions(payloadByteCount: UInt16(clamping: messageByteLimit))
        extensions.options = [DNSLease.option(seconds: Self.leaseSeconds), registration.owner.option]
        var messages: [UInt16: [UInt8]] = [:]
        var rest = registration.records[...]
        while !rest.isEmpty {
            guard messages.count < Self.messageLimit else { return nil }
            let id = unusedIdentifier(messages)
            guard let (bytes, count) = SleepProxyUpdate.make(id, rest, extensions, limit: messageByteLimit) else {
                // Leave out a record that is too large for one message, so that the other records can be registered.
                rest = rest.dropFirst()
                continue
            }
            messages[id] = bytes
            rest = rest.dropFirst(count)
        }
        return messages.isEmpty ? nil : messages
    }

    private mutating func unusedIdentifier(_ used: [UInt16: [UInt8]]) -> UInt16 {
        var id = UInt16.random(in: .min ... .max, using: &random)
        while used[id] != nil { id &+= 1 }
        return id
    }

    // MARK: Time

    package var deadline: Duration? { conversation?.due }

    package mutating func advance(to now: Duration) {
        guard let waiting = conversation, waiting.due <= now else { return }
        guard waiting.sent < Self.sendLimit else { return converse(waiting.registration, at: now) }
        conversation?.sent += 1
        conversation?.due = now + Self.retryInterval
        say()
    }
}

extension DNSRecordData {
    fileprivate func peer(port: UInt16) -> MulticastPeer? {
        switch self {
        case .ipv4(let address): MulticastPeer(.ipv4(address), port: port)
        case .ipv6(let address): MulticastPeer(.ipv6(address), port: port)
        default: nil
        }
    }
}

/// Encodes DNS updates for a sleep proxy.
enum SleepProxyUpdate {
    /// The opcode UPDATE (RFC 2136 §1.3).
    static let operation: UInt8 = 5

    /// Encodes as many records as fit into one message. Returns `nil` if not even the first one fits.
    ///
    /// The zone is `local` (RFC 2136 §2.3). Unique records keep the cache-flush bit, which asks the proxy to defend them.
    static func make(
        _ id: UInt16, _ records: ArraySlice<DNSRecord>, _ extensions: DNSExtensions, limit: Int
    ) -> ([UInt8], count: Int)? {
        let room = extensions.byteCount
        var writer = DNSMessageWriter(id: id, [], operation: operation, limit: limit)
        guard writer.add(DNSQuestion(.local, .soa)) else { return nil }
        var count = 0
        for record in records {
            var longer = writer
            guard longer.add(record, to: .authority), longer.byteCount + room <= limit else { break }
            writer = longer
            count += 1
        }
        guard count > 0, writer.add(extensions) else { return nil }
        return (writer.finish(), count)
    }
}

extension SleepProxyClient: QueueingMachine {
    package var hasEnded: Bool { false }
}

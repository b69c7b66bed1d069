internal import CausewayTypes
package import CausewayWire

/// Has somebody else on the link answer for this host while it sleeps.
///
/// While the host is awake it knows which sleep proxies there are and where. Just before it sleeps it gives its records to the best
/// of them by DNS update (RFC 2136), with who it is and how it is woken (``DNSOwner``) and for how long (RFC 9664), and says whether
/// that was taken: if not, goodbyes must be said. It does no I/O and reads no clock: its owner puts its questions, reports answers,
/// sends its messages, and calls ``advance(to:)`` at ``nextDeadline``.
package struct SleepProxyClient: Sendable {
    package enum Action: Equatable, Sendable {
        case ask(DNSQuestion)
        case stop(DNSQuestion)
        case send([UInt8], to: MulticastPeer)
        /// The records are somebody else's to answer for, until the host wakes or so many seconds are over.
        case registered(leaseSeconds: UInt32)
        /// Nobody took them.
        case failed
    }

    /// What a host has and is when it goes to sleep.
    package struct Registration: Sendable {
        package var records: [DNSRecord]
        package var owner: DNSOwner

        package init(_ records: [DNSRecord], of owner: DNSOwner) {
            self.records = records
            self.owner = owner
        }
    }

    package static let type: DNSName = "_sleep-proxy._udp.local"
    /// Nobody renews it while the host sleeps.
    package static let leaseSeconds: UInt32 = 86_400
    /// Proxies that are followed, and those that are asked before the host sleeps without one.
    static let proxyLimit = 16
    static let attemptLimit = 2
    /// The machine stops within a moment: what is not answered is said again soon, and not often.
    static let retryInterval: Duration = .milliseconds(100)
    static let sendLimit = 3
    /// More would take longer than there is.
    static let messageLimit = 64

    struct Proxy: Sendable {
        var metrics: SleepProxyMetrics
        var locations: [DNSRecord] = []
        var target: DNSName? {
            if case .service(_, _, _, let target)? = locations.last?.data { target } else { nil }
        }
        var port: UInt16 {
            if case .service(_, _, let port, _)? = locations.last?.data { port } else { 0 }
        }
    }

    /// What waits for one proxy's word.
    struct Conversation: Sendable {
        var registration: Registration
        var peer: MulticastPeer
        /// By their identifiers: what it has not confirmed yet.
        var messages: [UInt16: [UInt8]]
        var sent = 1
        var due: Duration
        var lease: UInt32 = .max
    }

    var proxies: [DNSName: Proxy] = [:]
    var addresses: [DNSName: [DNSRecordData]] = [:]
    var conversation: Conversation?
    /// Whom nobody needs to ask again before the host has slept.
    var tried: Set<MulticastPeer> = []
    var actions: [Action] = []
    private var isStarted = false
    /// Bytes of the largest message.
    package var messageByteLimit = MulticastDNS.messageByteLimit
    private var random: any RandomNumberGenerator & Sendable

    package init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.random = random
    }

    /// Begins to look for proxies.
    package mutating func start() {
        guard !isStarted else { return }
        isStarted = true
        actions.append(.ask(DNSQuestion(Self.type, .ptr)))
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Where proxies can be reached, the best first.
    package var reachable: [MulticastPeer] {
        let ranked = proxies.sorted { left, right in
            (left.value.metrics, left.key.description) < (right.value.metrics, right.key.description)
        }
        return ranked.compactMap { _, proxy in
            guard let target = proxy.target, proxy.port != 0 else { return nil }
            return addresses[target]?.compactMap { $0.peer(port: proxy.port) }.min(by: Self.precedes)
        }
    }

    /// IPv4 before IPv6, for it needs no scope.
    private static func precedes(_ left: MulticastPeer, _ right: MulticastPeer) -> Bool {
        switch (left.address, right.address) {
        case (.ipv4(let left), .ipv4(let right)): left.bits < right.bits
        case (.ipv6(let left), .ipv6(let right)): (left.high, left.low) < (right.high, right.low)
        case (.ipv4, .ipv6): true
        case (.ipv6, .ipv4): false
        }
    }

    // MARK: Sleep

    /// The host is about to sleep. What becomes of it is told by `registered` or `failed`, at once where there is no proxy.
    package mutating func sleep(_ registration: Registration, at now: Duration) {
        guard conversation == nil else { return }
        tried = []
        converse(registration, at: now)
    }

    /// The host is awake, or was never asleep: nothing more is said or awaited.
    package mutating func wake() { conversation = nil }

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

    /// The records in as few updates as will hold them; `nil` where there are none, or too many.
    private mutating func messages(_ registration: Registration) -> [UInt16: [UInt8]]? {
        var extensions = DNSExtensions(payloadByteCount: UInt16(clamping: messageByteLimit))
        extensions.options = [DNSLease.option(seconds: Self.leaseSeconds), registration.owner.option]
        var messages: [UInt16: [UInt8]] = [:]
        var rest = registration.records[...]
        while !rest.isEmpty {
            guard messages.count < Self.messageLimit else { return nil }
            let id = unusedIdentifier(messages)
            guard let (bytes, count) = SleepProxyUpdate.make(id, rest, extensions, limit: messageByteLimit) else {
                // What is too large for one message is left out: all others count more than it.
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

    package var nextDeadline: Duration? { conversation?.due }

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

/// Updates that give records away.
enum SleepProxyUpdate {
    static let operation: UInt8 = 5

    /// One message with as many of the records as it holds; `nil` if not even the first does.
    ///
    /// The zone is the one that multicast DNS is (RFC 2136 §2.3). Unique records keep their mark, else the proxy would not know that
    /// it must defend them.
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

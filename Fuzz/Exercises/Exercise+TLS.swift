internal import CausewayProtocols
internal import CausewayTLS
internal import CausewayTypes

extension Exercise {
    /// Runs a TLS or DTLS client and server, with arbitrary changes to the transferred data and calls in any order.
    ///
    /// The received data must equal the sent data, in order and without duplicates. If the transferred data is not
    /// modified, all data must arrive. Does nothing if the TLS library is missing.
    ///
    /// - Returns: The numbers of bytes that both sides sent and received. `nil` if the TLS library is missing.
    @discardableResult
    public static func tls(_ bytes: [UInt8]) -> (sent: Int, received: Int)? {
        guard let parties = TLSParties.shared else { return nil }
        var choices = Choices(bytes)
        guard var conversation = TLSConversation(parties, choices.next()) else { return nil }
        while !choices.isEmpty { conversation.step(&choices) }
        conversation.finish()
        return conversation.byteCounts
    }
}

/// The TLS contexts for each kind of conversation. They are created only once, because their creation is slow.
private struct TLSParties: Sendable {
    static let shared = try? TLSParties()

    struct Pair: Sendable {
        var client: TLSContext
        var server: TLSContext
    }

    /// The pairs of contexts. The index is the number of a ``TLSConversation/Kind``.
    let pairs: [Pair]

    init() throws {
        var template = CertificateTemplate(subject: "server.test", notBefore: 0, notAfter: 4_000_000_000)
        template.isAuthority = false
        let identity = try template.issue()
        pairs = try TLSConversation.Kind.allCases.map { kind in
            var client = TLSSettings(.client)
            var server = TLSSettings(.server)
            client.usesDatagrams = kind == .datagrams
            server.usesDatagrams = kind == .datagrams
            client.verifier = .owner(1)
            client.isResumptionEnabled = kind == .resuming
            server.identity = identity
            if kind == .older { client.maximumVersion = .tls12 }
            if kind == .preShared {
                let key = TLSSettings.PreSharedKey(key: [1, 2, 3, 4, 5, 6, 7, 8], identity: [65])
                (client.preSharedKeys, server.preSharedKeys) = ([key], [key])
            }
            return Pair(client: try TLSContext(client), server: try TLSContext(server))
        }
    }
}

private struct TLSConversation {
    enum Kind: CaseIterable { case newest, older, datagrams, preShared, resuming }

    struct Side {
        var stage: TLSStage
        /// The bytes in transit to this side.
        var arriving: [[UInt8]] = []
        var sent = 0
        var received = 0
        var isAsked = false
    }

    private var client: Side
    private var server: Side
    private let usesDatagrams: Bool
    private var now = Duration.zero
    /// Whether the exercise has changed bytes in transit. If so, failures and missing content are permitted.
    private var isHarmed = false

    init?(_ parties: TLSParties, _ choice: UInt8) {
        let kind = Kind.allCases[Int(choice) % Kind.allCases.count]
        let pair = parties.pairs[Int(choice) % Kind.allCases.count]
        usesDatagrams = kind == .datagrams
        guard let one = try? TLSStage(pair.client, host: .name("server.test", nil), port: 443),
            let other = try? TLSStage(pair.server)
        else { return nil }
        (client, server) = (Side(stage: one), Side(stage: other))
        client.stage.start(at: now)
        server.stage.start(at: now)
        collect()
    }

    var byteCounts: (sent: Int, received: Int) {
        (client.sent + server.sent, client.received + server.received)
    }

    // MARK: Steps

    mutating func step(_ choices: inout Exercise.Choices) {
        let order = choices.next()
        let towardsServer = order & 0x80 == 0
        let path: WritableKeyPath<TLSConversation, Side> = towardsServer ? \.server : \.client
        let origin: WritableKeyPath<TLSConversation, Side> = towardsServer ? \.client : \.server
        switch order & 0x0f {
        case 0...4: deliver(to: path, atMost: 1 + choices.next(below: 256) * 16)
        case 5, 6: send(from: origin, choices.next(below: 256) * 40)
        case 7: read(at: path, 1 + choices.next(below: 256) * 64)
        case 8: harm { $0.damage(at: path, choices.next(), choices.next()) }
        case 9: harm { $0[keyPath: path].arriving.insert(choices.take(choices.next(below: 64)), at: 0) }
        case 10: harm { if !$0[keyPath: path].arriving.isEmpty { $0[keyPath: path].arriving.removeFirst() } }
        case 11: harm { $0[keyPath: path].stage.receive(.end, at: $0.now) }
        case 12: harm { $0[keyPath: path].stage.close(at: $0.now) }
        case 13: pass(.milliseconds(choices.next(below: 256) * 50))
        case 14: answer(choices.next() % 8 != 0)
        default: repeatDatagram(at: path)
        }
        collect()
    }

    private mutating func harm(_ body: (inout TLSConversation) -> Void) {
        isHarmed = true
        body(&self)
    }

    private mutating func deliver(to path: WritableKeyPath<TLSConversation, Side>, atMost limit: Int) {
        guard let first = self[keyPath: path].arriving.first, self[keyPath: path].stage.inboundRoom > 0 else { return }
        let count = usesDatagrams ? first.count : min(limit, first.count, self[keyPath: path].stage.inboundRoom)
        self[keyPath: path].stage.receive(MessageChunk(Array(first.prefix(count)), endsMessage: usesDatagrams), at: now)
        if count == first.count {
            self[keyPath: path].arriving.removeFirst()
        } else {
            self[keyPath: path].arriving[0].removeFirst(count)
        }
    }

    /// Sends content that the receiver can verify. In a stream, each byte is one more than the previous byte. In a
    /// datagram, each byte is the datagram's length.
    private mutating func send(from path: WritableKeyPath<TLSConversation, Side>, _ count: Int) {
        guard self[keyPath: path].stage.outboundRoom > 0 else { return }
        let count = usesDatagrams ? min(count, 1_200) : count
        let start = self[keyPath: path].sent
        let content = (0..<count).map { UInt8(truncatingIfNeeded: usesDatagrams ? count : start + $0) }
        if self[keyPath: path].stage.send(MessageChunk(content, endsMessage: usesDatagrams), at: now) {
            self[keyPath: path].sent += count
        }
    }

    private mutating func read(at path: WritableKeyPath<TLSConversation, Side>, _ limit: Int) {
        guard let chunk = self[keyPath: path].stage.nextInbound(atMost: limit) else { return }
        precondition(chunk.bytes.count <= limit)
        let bytes = chunk.bytes.bytes
        let start = self[keyPath: path].received
        if usesDatagrams {
            precondition(bytes.allSatisfy { $0 == bytes[0] }, "the datagram contains bytes of another datagram")
        } else {
            precondition(
                bytes.indices.allSatisfy { bytes[$0] == UInt8(truncatingIfNeeded: start + $0) },
                "bytes are out of order")
        }
        self[keyPath: path].received += bytes.count
    }

    private mutating func damage(at path: WritableKeyPath<TLSConversation, Side>, _ place: UInt8, _ bit: UInt8) {
        guard let count = self[keyPath: path].arriving.first?.count, count > 0 else { return }
        self[keyPath: path].arriving[0][Int(place) * count / 256] ^= 1 << (bit & 7)
    }

    private mutating func repeatDatagram(at path: WritableKeyPath<TLSConversation, Side>) {
        guard usesDatagrams, let first = self[keyPath: path].arriving.first,
            self[keyPath: path].arriving.count < 64
        else { return }
        self[keyPath: path].arriving.append(first)
    }

    private mutating func pass(_ time: Duration) {
        now += time
        client.stage.advance(to: now)
        server.stage.advance(to: now)
    }

    private mutating func answer(_ isTrusted: Bool) {
        guard client.isAsked else { return }
        client.isAsked = false
        if !isTrusted { isHarmed = true }
        client.stage.trustEvaluated(isTrusted: isTrusted)
    }

    /// Processes the events of both stages. Passes each stage's output to the other side.
    private mutating func collect() {
        while let event = client.stage.nextEvent() {
            if case .evaluateTrust? = event as? TLSEvent { client.isAsked = true }
        }
        while server.stage.nextEvent() != nil {}
        while let chunk = client.stage.nextOutbound(atMost: 4_096) { server.arriving.append(chunk.bytes.bytes) }
        while let chunk = server.stage.nextOutbound(atMost: 4_096) { client.arriving.append(chunk.bytes.bytes) }
        // Remove empty messages. They stand for the end of the stream, which must come only from closing.
        client.arriving.removeAll { $0.isEmpty }
        server.arriving.removeAll { $0.isEmpty }
    }

    // MARK: The end

    /// Delivers all data in transit to both sides, and reads it on both sides. Then checks the result.
    mutating func finish() {
        for _ in 0..<10_000 {
            let before = (client.received, server.received, client.arriving.count, server.arriving.count)
            answer(true)
            for path in [\TLSConversation.client, \.server] {
                deliver(to: path, atMost: .max)
                read(at: path, 1 << 20)
            }
            collect()
            let after = (client.received, server.received, client.arriving.count, server.arriving.count)
            if before == after, !client.isAsked, client.arriving.isEmpty, server.arriving.isEmpty { break }
        }
        guard !isHarmed else { return }
        precondition(
            client.stage.failure == nil && server.stage.failure == nil, "failed although the transfer was not modified")
        guard !usesDatagrams else { return }
        precondition(server.received == client.sent && client.received == server.sent, "content is missing")
    }
}

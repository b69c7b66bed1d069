import CausewayProtocols
import CausewayTLS
import CausewayTestKit
import CausewayTypes

/// Two TLS stacks that exchange ciphertext in memory.
struct StackPair {
    struct Side {
        var stack: ProtocolStack
        let id: ProtocolStack.StageID
        /// The ciphertext on its way to this side. `hasEnd` is `true` if the end of the stream follows this ciphertext.
        var arriving: [UInt8] = []
        var hasEnd = false
        var datagrams: [[UInt8]] = []
        var received: [UInt8] = []
        var messages: [[UInt8]] = []
        /// The number of final chunks that were delivered.
        var endCount = 0
        var isReady = false
        var isClosed = false
        var failure: Failure?
        var negotiation: TLSNegotiation?
        var keyLog: [String] = []
        /// The owner's decision whether to trust the peer; `nil` while the decision is pending.
        var verdict: Bool?
        var wasAsked = false
        /// The number of handshake steps that the owner ran.
        var stepCount = 0
        var wasChallenged = false
        var identity: TLSIdentity?
        /// Whether the program on this side reads.
        var isReading = true
        /// The maximum number of bytes per read.
        var readLimit = Int.max

        init(_ context: TLSContext, host: NWEndpoint.Host? = nil, stepsElsewhere: Bool = false) throws {
            stack = ProtocolStack([try TLSStage(context, host: host, port: 443, stepsElsewhere: stepsElsewhere)])
            id = stack.stageIDs[0]
        }

        var reason: TLSFailure? {
            var copy = stack
            return copy.withStage(id, as: TLSStage.self) { $0.failure } ?? nil
        }
    }

    var client: Side
    var server: Side
    /// The number of bytes in transit that arrive at once, given their total.
    var cut: (inout SplitMix64, Int) -> Int = { $1 }
    var random = SplitMix64(seed: 7)
    let usesDatagrams: Bool
    /// Returns how many copies of a sent datagram arrive. 0 means that the datagram is lost.
    var copies: (inout SplitMix64) -> Int = { _ in 1 }
    /// Whether datagrams are reordered.
    var isReordering = false
    /// Whether the pair passes bytes over the stages' direct path if possible.
    var goesStraight = false
    /// The number of times that bytes took the direct path through the stages.
    var straightCount = 0

    init(_ client: TLSSettings, _ server: TLSSettings, stepsElsewhere: Bool = false) throws {
        self.client = try Side(TLSContext(client), host: "server.test", stepsElsewhere: stepsElsewhere)
        self.server = try Side(TLSContext(server), stepsElsewhere: stepsElsewhere)
        usesDatagrams = client.usesDatagrams
    }

    mutating func start() {
        client.stack.start(at: .zero)
        server.stack.start(at: .zero)
        run()
    }

    /// Runs client and server in turn until neither of them transfers any more bytes.
    mutating func run() {
        var moved = true
        while moved {
            moved = step(\.client, \.server)
            moved = step(\.server, \.client) || moved
        }
    }

    private mutating func step(_ own: WritableKeyPath<StackPair, Side>, _ other: WritableKeyPath<StackPair, Side>)
        -> Bool
    {
        var moved = takeEvents(own)
        if goesStraight { moved = takeStraight(own, other) || moved }
        while let chunk = self[keyPath: own].stack.nextOutbound(atMost: 50_000, at: .zero) {
            moved = true
            if usesDatagrams {
                let count = chunk.bytes.isEmpty ? 0 : copies(&random)
                self[keyPath: other].datagrams += Array(repeating: chunk.bytes.bytes, count: count)
            } else {
                self[keyPath: other].arriving += chunk.bytes.bytes
            }
            if chunk.isFinal { self[keyPath: other].hasEnd = true }
        }
        moved = deliver(own) || moved
        moved = takeEvents(own) || moved
        return read(own) || moved
    }

    /// Runs the due retransmissions on both sides. The TLS library's own clock decides which ones are due.
    mutating func advance() {
        client.stack.advance(to: .zero)
        server.stack.advance(to: .zero)
    }

    private mutating func deliver(_ own: WritableKeyPath<StackPair, Side>) -> Bool {
        let room = self[keyPath: own].stack.inboundRoom
        guard room > 0 else { return false }
        if !self[keyPath: own].datagrams.isEmpty {
            let last = self[keyPath: own].datagrams.count - 1
            let datagram = self[keyPath: own].datagrams.remove(at: isReordering ? random.integer(in: 0...last) : 0)
            self[keyPath: own].stack.receive(MessageChunk(datagram), at: .zero)
            return true
        }
        let waiting = self[keyPath: own].arriving.count
        if waiting > 0 {
            let count = min(room, max(1, cut(&random, waiting)), waiting)
            let piece = [UInt8](self[keyPath: own].arriving.prefix(count))
            self[keyPath: own].arriving.removeFirst(count)
            if !goesStraight || !deliverStraight(piece, own) {
                self[keyPath: own].stack.receive(MessageChunk(piece, endsMessage: false), at: .zero)
            }
            return true
        }
        guard self[keyPath: own].hasEnd else { return false }
        self[keyPath: own].hasEnd = false
        self[keyPath: own].stack.receive(.end, at: .zero)
        return true
    }

    private mutating func deliverStraight(_ piece: [UInt8], _ own: WritableKeyPath<StackPair, Side>) -> Bool {
        guard self[keyPath: own].isReading else { return false }
        var content = [UInt8](repeating: 0, count: random.integer(in: 1...20_000))
        let count = piece.withUnsafeBytes { bytes in
            content.withUnsafeMutableBytes { room in
                self[keyPath: own].stack.receive(lent: bytes, into: room, at: .zero)
            }
        }
        guard let count else { return false }
        self[keyPath: own].received += content[..<count]
        straightCount += count > 0 ? 1 : 0
        return true
    }

    private mutating func takeStraight(
        _ own: WritableKeyPath<StackPair, Side>, _ other: WritableKeyPath<StackPair, Side>
    ) -> Bool {
        var bytes = [UInt8](repeating: 0, count: random.integer(in: 1...60_000))
        let count = bytes.withUnsafeMutableBytes { self[keyPath: own].stack.takeOutbound(into: $0, at: .zero) }
        self[keyPath: other].arriving += bytes[..<count]
        straightCount += count > 0 ? 1 : 0
        return count > 0
    }

    private mutating func read(_ own: WritableKeyPath<StackPair, Side>) -> Bool {
        guard self[keyPath: own].isReading else { return false }
        var moved = false
        let limit = self[keyPath: own].readLimit
        while let chunk = self[keyPath: own].stack.nextInbound(atMost: limit, at: .zero) {
            moved = true
            self[keyPath: own].received += chunk.bytes.bytes
            if chunk.isFinal { self[keyPath: own].endCount += 1 }
            if usesDatagrams, !chunk.isFinal { self[keyPath: own].messages.append(chunk.bytes.bytes) }
        }
        return moved
    }

    private mutating func takeEvents(_ own: WritableKeyPath<StackPair, Side>) -> Bool {
        var moved = false
        while let event = self[keyPath: own].stack.nextEvent(at: .zero) {
            moved = true
            switch event {
            case .ready: self[keyPath: own].isReady = true
            case .failed(let failure): self[keyPath: own].failure = failure
            case .closed: self[keyPath: own].isClosed = true
            case .stage(let id, let event):
                guard let event = event as? TLSEvent else { continue }
                note(event, own, id)
            }
        }
        return moved
    }

    private mutating func note(_ event: TLSEvent, _ own: WritableKeyPath<StackPair, Side>, _ id: ProtocolStack.StageID)
    {
        switch event {
        case .established(let negotiation): self[keyPath: own].negotiation = negotiation
        case .failed: break
        case .keyLog(let line): self[keyPath: own].keyLog.append(line)
        case .step(let step):
            let progress = step.run()
            self[keyPath: own].stepCount += 1
            self[keyPath: own].stack.withStage(id, as: TLSStage.self) { $0.stepEnded(progress) }
            self[keyPath: own].stack.resume(at: .zero)
        case .evaluateTrust:
            self[keyPath: own].wasAsked = true
            if let verdict = self[keyPath: own].verdict { answer(verdict, own) }
        case .chooseIdentity:
            self[keyPath: own].wasChallenged = true
            let identity = self[keyPath: own].identity
            self[keyPath: own].stack.withStage(id, as: TLSStage.self) { $0.identityChosen(identity) }
            self[keyPath: own].stack.resume(at: .zero)
        }
    }

    mutating func answer(_ isTrusted: Bool, _ own: WritableKeyPath<StackPair, Side>) {
        self[keyPath: own].stack.withStage(self[keyPath: own].id, as: TLSStage.self) {
            $0.trustEvaluated(isTrusted: isTrusted)
        }
        self[keyPath: own].stack.resume(at: .zero)
    }

    /// Sends `content` in pieces. Each piece is at most as long as the free space in the stack's output buffer. Between
    /// two pieces, the test delivers bytes that are in transit.
    mutating func transfer(_ content: [UInt8], from own: WritableKeyPath<StackPair, Side>, isFinal: Bool = false) {
        var rest = content[...]
        while !rest.isEmpty {
            let room = self[keyPath: own].stack.outboundRoom
            if room > 0 {
                let piece = [UInt8](rest.prefix(min(room, random.integer(in: 1...40_000))))
                rest = rest.dropFirst(piece.count)
                let chunk = MessageChunk(piece, endsMessage: isFinal && rest.isEmpty, isFinal: isFinal && rest.isEmpty)
                self[keyPath: own].stack.send(chunk, at: .zero)
            }
            run()
            guard room > 0 || self[keyPath: own].stack.outboundRoom > 0 else { return }
        }
    }
}

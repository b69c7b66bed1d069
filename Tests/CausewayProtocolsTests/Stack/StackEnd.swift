import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire

/// One end of a connection, with its protocol stack, its framers, and its results.
struct StackEnd {
    var stack: ProtocolStack
    var framers: [ProtocolStack.StageID: any TestFramer] = [:]
    var events: [String] = []
    /// Whether this side accepts WebSocket clients, if it is a server.
    var acceptsClients = true
    var isReady = false
    var failure: Failure?
    var isClosed = false
    /// The number of times that the end of the stream was reported.
    var endings = 0
    /// The complete messages received so far.
    var messages: [[UInt8]] = []
    var metadata: [[any StageMetadata]] = []
    var hasEnd = false
    private var partial: [UInt8] = []
    var now: Duration = .zero

    /// - Parameter framers: One entry for each stage, from the bottom up. For a framer stage, the entry is the
    ///   program's code for this framer. For any other stage, it is `nil`.
    init(_ stages: [any ProtocolStage], framers: [(any TestFramer)?]) {
        stack = ProtocolStack(stages)
        for (id, framer) in zip(stack.stageIDs, framers) { if let framer { self.framers[id] = framer } }
    }

    mutating func start() {
        stack.start(at: now)
        settle()
    }

    mutating func settle() {
        while let event = stack.nextEvent(at: now) {
            switch event {
            case .ready: isReady = true
            case .failed(let failure):
                self.failure = failure
                endings += 1
            case .closed:
                isClosed = true
                endings += 1
            case .stage(let id, FramerEvent.call(let call)):
                events.append("\(call.kind)")
                guard var framer = framers[id] else { break }
                _ = stack.withStage(id, as: FramerStage.self) { framer.answer(call, &$0) }
                framers[id] = framer
                stack.resume(at: now)
            case .stage(let id, WebSocketStageEvent.requested):
                let response = UpgradeResponse(status: acceptsClients ? 101 : 400)
                _ = stack.withStage(id, as: WebSocketStage.self) { $0.respond(response) }
                stack.resume(at: now)
            case .stage(_, WebSocketStageEvent.failed(let failure)): events.append("\(failure)")
            case .stage: break
            }
        }
    }

    mutating func receive(_ bytes: ByteChain, endsMessage: Bool = false) {
        stack.receive(MessageChunk(bytes, endsMessage: endsMessage), at: now)
        settle()
    }

    mutating func receiveEnd() {
        stack.receive(.end, at: now)
        settle()
    }

    mutating func send(_ bytes: [UInt8], metadata: [any StageMetadata] = [], endsMessage: Bool = true) {
        stack.send(MessageChunk(bytes, metadata: metadata, endsMessage: endsMessage), at: now)
        settle()
    }

    mutating func take(atMost limit: Int = .max) -> MessageChunk? {
        let chunk = stack.nextOutbound(atMost: limit, at: now)
        settle()
        return chunk
    }

    /// Reads a piece of content from the stack, like a program.
    @discardableResult
    mutating func read(atMost limit: Int = .max) -> Bool {
        guard let chunk = stack.nextInbound(atMost: limit, at: now) else { return false }
        settle()
        partial += chunk.bytes.bytes
        if chunk.isFinal {
            hasEnd = true
        } else if chunk.endsMessage {
            messages.append(partial)
            metadata.append(chunk.metadata)
            partial = []
        }
        return true
    }

    mutating func close() {
        stack.close(at: now)
        settle()
    }
}

/// Two connected protocol stacks, and the bytes in transit between them.
struct StackPair {
    var ends: [StackEnd]
    /// For each end, the bytes that are in transit to it.
    var wires = [ByteChain(), ByteChain()]
    /// The bytes that each end has sent; `nil` if they are not recorded.
    var log: [[UInt8]]?
    var random: SplitMix64

    init(_ one: StackEnd, _ other: StackEnd, seed: UInt64 = 1, keepsLog: Bool = false) {
        ends = [one, other]
        random = SplitMix64(seed: seed)
        log = keepsLog ? [[], []] : nil
        ends[0].start()
        ends[1].start()
    }

    /// Moves some bytes. Each end sends up to `longest` bytes, and receives a part of the bytes in transit. In about
    /// one of eight steps, an end sends at most one byte.
    mutating func step(longest: Int = 3000) {
        for end in 0..<2 {
            let limit = random.chance(oneIn: 8) ? 1 : random.integer(in: 1...longest)
            if wires[1 - end].count < 20_000, let chunk = ends[end].take(atMost: limit) {
                log?[end] += chunk.bytes.bytes
                wires[1 - end].append(chunk.bytes)
            }
            let drips = random.chance(oneIn: 10) ? random.integer(in: 1...40) : 0
            for _ in 0..<drips where ends[end].stack.inboundRoom > 0 {
                let byte = wires[end].take(atMost: 1)
                if !byte.isEmpty { ends[end].receive(byte) }
            }
            let room = ends[end].stack.inboundRoom
            guard room > 0 else { continue }
            let piece = wires[end].take(atMost: min(room, random.integer(in: 1...longest)))
            if !piece.isEmpty { ends[end].receive(piece) }
        }
    }

    /// Passes bytes between both ends until neither has output.
    mutating func run() {
        var moved = true
        while moved {
            moved = false
            for end in 0..<2 {
                while let chunk = ends[end].take() {
                    log?[end] += chunk.bytes.bytes
                    wires[1 - end].append(chunk.bytes)
                    moved = true
                }
                if !wires[end].isEmpty, ends[end].stack.inboundRoom > 0 {
                    ends[end].receive(wires[end].take(atMost: .max))
                    moved = true
                }
                while ends[end].read() { moved = true }
            }
        }
    }
}

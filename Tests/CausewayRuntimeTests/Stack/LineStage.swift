import CausewayProtocols
import CausewayTypes

/// A line protocol for tests. Each side first sends the greeting `H`. Each later line is a message, except two lines:
/// `B` closes the protocol, and `X` causes an error.
struct LineStage: ProtocolStage {
    struct Mark: StageMetadata, Equatable {
        var length: Int
    }

    private(set) var status = StageStatus.idle
    private var inbound: [UInt8] = []
    private var messages: [[UInt8]] = []
    private var hasInboundEnded = false
    private var hasDeliveredEnd = false
    private var outbound: [UInt8] = []
    private var hasOutboundEnded = false
    private var isClosing = false

    var awaitsPeer: Bool { status == .opening }

    mutating func start(at now: Duration) {
        status = .opening
        outbound += Array("H".utf8)
    }

    var inboundRoom: Int { messages.count < 3 ? 64 : 0 }

    mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        inbound += chunk.bytes.bytes
        if status == .opening, inbound.first == UInt8(ascii: "H") {
            inbound.removeFirst()
            status = .ready
        }
        while let end = inbound.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(inbound[..<end])
            inbound.removeSubrange(...end)
            switch line {
            case Array("B".utf8): hasInboundEnded = true
            case Array("X".utf8): status = .failed(Failure(errno: 71))
            default: messages.append(line)
            }
        }
        if chunk.isFinal { hasInboundEnded = true }
    }

    mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        guard !messages.isEmpty else {
            guard hasInboundEnded, !hasDeliveredEnd else { return nil }
            hasDeliveredEnd = true
            // The input ended within a line. Deliver the incomplete line.
            return MessageChunk(inbound, endsMessage: inbound.isEmpty, isFinal: true)
        }
        let mark = Mark(length: messages[0].count)
        guard messages[0].count > limit else { return MessageChunk(messages.removeFirst(), metadata: [mark]) }
        defer { messages[0].removeFirst(limit) }
        return MessageChunk(Array(messages[0].prefix(limit)), metadata: [mark], endsMessage: false)
    }

    var outboundRoom: Int { max(0, 64 - outbound.count) }

    mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard status == .ready else { return false }
        if !chunk.isBareEnd { outbound += chunk.bytes.bytes + (chunk.endsMessage ? Array("\n".utf8) : []) }
        if chunk.isFinal { hasOutboundEnded = true }
        return true
    }

    mutating func nextOutbound(atMost limit: Int) -> MessageChunk? {
        guard !outbound.isEmpty else {
            guard hasOutboundEnded else { return nil }
            hasOutboundEnded = false
            return .end
        }
        let piece = Array(outbound.prefix(limit))
        outbound.removeFirst(piece.count)
        if isClosing, outbound.isEmpty { status = .closed }
        return MessageChunk(piece, endsMessage: false)
    }

    mutating func close(at now: Duration) {
        outbound += Array("B\n".utf8)
        isClosing = true
    }

    mutating func abort(_ failure: Failure) { status = .failed(failure) }
}

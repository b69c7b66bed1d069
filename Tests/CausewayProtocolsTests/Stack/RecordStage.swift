import CausewayProtocols
import CausewayTypes

/// A test protocol that is similar to TLS. It has a handshake, changes the bytes, and has a closing message.
///
/// Both ends send a four-byte greeting. After that, they send records. A record is a length byte from 1 to 255,
/// followed by that number of inverted bytes. The length 0 closes the connection.
struct RecordStage: ProtocolStage {
    private static let hello: [UInt8] = [0x48, 0x45, 0x4C, 0x4F]

    private(set) var status: StageStatus = .idle
    private var raw = ByteChain()
    private var plain = MessageChunkQueue()
    private var out = MessageChunkQueue()
    private var peerSaidHello = false
    private var saidGoodbye = false
    private var isClosing = false
    private var hasEnded = false
    /// The maximum number of bytes held in each direction.
    let limit: Int

    init(limit: Int = 700) { self.limit = limit }

    mutating func start(at now: Duration) {
        status = .opening
        out.append(MessageChunk(Self.hello, endsMessage: false))
        read()
    }

    var inboundRoom: Int { max(0, limit - raw.count - plain.byteCount) }

    mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        raw.append(chunk.bytes)
        read()
        if chunk.isFinal, !hasEnded { status = .failed(.endedEarly) }
    }

    mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        let chunk = plain.pop(atMost: limit)
        read()
        return chunk
    }

    var outboundRoom: Int { max(0, limit - out.byteCount) }

    mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard !saidGoodbye else { return false }
        var bytes = chunk.bytes
        while bytes.count > 0 {
            let record = bytes.take(atMost: 255).bytes
            out.append(MessageChunk([UInt8(record.count)] + record.map { ~$0 }, endsMessage: false))
        }
        if chunk.isFinal { sayGoodbye() }
        return true
    }

    mutating func nextOutbound(atMost limit: Int) -> MessageChunk? {
        let chunk = out.pop(atMost: limit)
        settleClosing()
        return chunk
    }

    mutating func close(at now: Duration) {
        isClosing = true
        sayGoodbye()
        settleClosing()
    }

    mutating func abort(_ failure: Failure) { if status != .closed { status = .failed(failure) } }

    private mutating func sayGoodbye() {
        guard !saidGoodbye else { return }
        saidGoodbye = true
        out.append(MessageChunk([0], endsMessage: false))
        out.append(.end)
    }

    private mutating func settleClosing() { if isClosing, out.isEmpty { status = .closed } }

    private mutating func read() {
        if !peerSaidHello {
            guard raw.count >= 4 else { return }
            guard raw.take(atMost: 4).bytes == Self.hello else {
                status = .failed(.protocolViolation)
                return
            }
            peerSaidHello = true
        }
        if status == .opening { status = .ready }
        while plain.byteCount < limit, !hasEnded, let length = raw.front(1).first.map(Int.init), raw.count > length {
            raw.drop(atMost: 1)
            guard length > 0 else {
                hasEnded = true
                plain.append(.end)
                return
            }
            plain.append(MessageChunk(raw.take(atMost: length).bytes.map { ~$0 }, endsMessage: false))
        }
    }
}

internal import CausewayProtocols

/// Received ciphertext that the TLS engine has not taken yet. It is a byte stream, or a series of whole datagrams.
struct CiphertextQueue {
    private enum End {
        case open
        /// The transport has ended.
        case arrived
        /// The engine has been informed that the transport has ended.
        case reported
    }

    private let usesDatagrams: Bool
    private var stream = ByteChain()
    private var datagrams = MessageChunkQueue()
    /// The first part of a datagram that arrives in several chunks.
    private var partialDatagram = ByteChain()
    private var end = End.open

    init(usesDatagrams: Bool) { self.usesDatagrams = usesDatagrams }

    var isEmpty: Bool { usesDatagrams ? datagrams.isEmpty : stream.isEmpty }
    /// Whether the transport has ended, so that nothing may be added.
    var hasEnded: Bool { end != .open }

    /// The number of bytes that the queue can still accept.
    var room: Int {
        guard usesDatagrams else { return max(0, TLSStage.bufferLimit - stream.count) }
        return max(0, TLSStage.bufferLimit - datagrams.byteCount - partialDatagram.count)
    }

    mutating func append(_ chunk: MessageChunk) {
        if usesDatagrams { appendDatagram(chunk) } else { stream.append(chunk.bytes) }
        if chunk.isFinal { end = .arrived }
    }

    private mutating func appendDatagram(_ chunk: MessageChunk) {
        partialDatagram.append(chunk.bytes)
        guard chunk.endsMessage, !partialDatagram.isEmpty else { return }
        let whole = partialDatagram
        partialDatagram = ByteChain()
        // While the program validates a certificate, datagrams keep arriving, and there is no limit to their number. If
        // the queue is full, drop the new datagram.
        guard datagrams.count < PlaintextQueue.maximumMessages else { return }
        datagrams.append(MessageChunk(whole))
    }

    /// Removes and returns the next bytes for the engine; with datagrams, one datagram.
    mutating func popPiece() -> ArraySlice<UInt8>? {
        guard usesDatagrams else { return stream.isEmpty ? nil : stream.popPiece(atMost: TLSStage.bufferLimit) }
        return datagrams.pop().map { $0.bytes.bytes[...] }
    }

    /// Returns `true` once, after the transport has ended. The caller then notifies the engine. Call only if
    /// ``popPiece()`` returns `nil`.
    mutating func takeEnd() -> Bool {
        guard end == .arrived else { return false }
        end = .reported
        return true
    }

    /// Drops all bytes.
    mutating func removeAll() {
        stream = ByteChain()
        datagrams.removeAll()
        partialDatagram = ByteChain()
    }
}

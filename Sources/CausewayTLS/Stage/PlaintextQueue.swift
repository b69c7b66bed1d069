internal import CausewayProtocols

/// Decrypted content for the protocol above TLS: a byte stream, or messages.
struct PlaintextQueue {
    private enum End {
        case open
        /// The peer has sent a close_notify.
        case closed
        /// The stage above TLS was notified that the peer sends no more content.
        case delivered
    }

    /// The maximum number of unread messages, regardless of their size.
    static let maximumMessages = 256

    private let usesDatagrams: Bool
    private var stream = ByteChain()
    private var messages = MessageChunkQueue()
    private var end = End.open

    init(usesDatagrams: Bool) { self.usesDatagrams = usesDatagrams }

    var isEmpty: Bool { usesDatagrams ? messages.isEmpty : stream.isEmpty }
    /// Whether the peer has closed its sending direction. If so, no content may be added.
    @inline(__always) var isClosed: Bool { end != .open }

    /// The number of bytes that the queue can still accept.
    @inline(__always) var room: Int {
        guard usesDatagrams else { return TLSStage.bufferLimit - stream.count }
        return messages.count < Self.maximumMessages ? TLSStage.bufferLimit - messages.byteCount : 0
    }

    /// Adds the bytes from one read. If the transport uses datagrams, these bytes are one message.
    mutating func append(_ bytes: [UInt8]) {
        if usesDatagrams { messages.append(MessageChunk(bytes)) } else { stream.append(bytes) }
    }

    mutating func pop(atMost limit: Int) -> MessageChunk? {
        if usesDatagrams { return messages.pop(atMost: limit) }
        guard !stream.isEmpty else { return nil }
        return MessageChunk(stream.take(atMost: limit), endsMessage: false)
    }

    /// Records that the peer has closed.
    mutating func close() { if end == .open { end = .closed } }

    /// Returns `true` once, after the peer has closed its sending direction. The caller then tells the stage above TLS
    /// that the content has ended. Call this method only if ``pop(atMost:)`` returns `nil`.
    mutating func takeEnd() -> Bool {
        guard end == .closed else { return false }
        end = .delivered
        return true
    }

    /// Drops all content.
    mutating func removeAll() {
        stream = ByteChain()
        messages.removeAll()
    }
}

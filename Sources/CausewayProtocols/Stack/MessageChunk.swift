/// One protocol's metadata for a message. In a received message, it is information from this protocol for the stages
/// above. In a message to send, it is information for this protocol.
package protocol StageMetadata: Sendable {}

/// Part of a message on its way through a ``ProtocolStack``, in either direction.
///
/// A byte stream is one message that ends with the stream. A message may consist of several chunks. Each chunk has the
/// message's metadata, and only the message's final chunk ends the message.
package struct MessageChunk: Sendable {
    /// What a chunk means for the messages before and after it.
    package enum Kind: Sendable {
        /// Part of a message.
        case content
        /// A protocol's control message. It may come between two chunks of another message.
        case control
        /// The final control message, which no message follows. If it comes between two chunks of another message, that
        /// message is never completed.
        case closing
    }

    package var bytes: ByteChain
    /// The metadata of the protocols. In a message to send, each protocol uses only its own metadata. In a received
    /// message, the protocol that delivers the chunk comes first, and the protocols below it follow.
    package var metadata: [any StageMetadata]
    package var endsMessage: Bool
    /// Whether this is the last chunk in its direction, sending or receiving.
    ///
    /// If ``endsMessage`` of the last received chunk is `false`, the last message is incomplete.
    package var isFinal: Bool
    package var kind = Kind.content

    package init(
        _ bytes: ByteChain = ByteChain(), metadata: [any StageMetadata] = [], endsMessage: Bool = true,
        isFinal: Bool = false
    ) {
        self.bytes = bytes
        self.metadata = metadata
        self.endsMessage = endsMessage
        self.isFinal = isFinal
    }

    package init(
        _ bytes: [UInt8], metadata: [any StageMetadata] = [], endsMessage: Bool = true, isFinal: Bool = false
    ) {
        self.init(ByteChain(bytes), metadata: metadata, endsMessage: endsMessage, isFinal: isFinal)
    }

    /// A chunk without content that ends the sending or the receiving direction.
    package static var end: MessageChunk { MessageChunk(ByteChain(), isFinal: true) }

    /// Whether the chunk carries no message, and only ends the sending or the receiving direction.
    package var isBareEnd: Bool { isFinal && bytes.isEmpty && metadata.isEmpty }

    /// Returns a new chunk that contains a copy of `bytes`. The metadata, the flags and the kind are those of this
    /// chunk.
    package func holding(_ bytes: UnsafeRawBufferPointer) -> MessageChunk {
        var held = unsafe MessageChunk([UInt8](bytes), metadata: metadata, endsMessage: endsMessage, isFinal: isFinal)
        held.kind = kind
        return held
    }

    /// Returns the first metadata of the given type.
    package func metadata<Metadata: StageMetadata>(of type: Metadata.Type) -> Metadata? {
        for one in metadata { if let found = one as? Metadata { return found } }
        return nil
    }

    /// Removes up to `limit` bytes from the front of this chunk, and returns them as a new chunk. The new chunk ends
    /// the message only if this chunk is then empty.
    package mutating func take(atMost limit: Int) -> MessageChunk {
        guard bytes.count > limit else {
            let whole = self
            self = MessageChunk()
            return whole
        }
        var piece = MessageChunk(bytes.take(atMost: limit), metadata: metadata, endsMessage: false)
        piece.kind = kind
        return piece
    }
}

/// A queue of chunks that counts their bytes.
package struct MessageChunkQueue: Sendable {
    /// The maximum number of chunks in the queue. With this many chunks, the queue is full even if they contain few
    /// bytes.
    package static let chunkLimit = 1024
    /// The number of bytes at which the queue is full.
    package static let byteLimit = 64 << 10

    private var chunks = InlineFirstQueue<MessageChunk>()
    package private(set) var byteCount = 0

    package init() {}

    package var isEmpty: Bool { chunks.isEmpty }
    package var count: Int { chunks.count }
    package var first: MessageChunk? { chunks.first }

    /// The number of bytes that a peer may still add; 0 if the queue is full. The number of chunks is limited too:
    /// otherwise a peer that sends empty messages could fill the memory.
    package var room: Int { chunks.count < Self.chunkLimit ? max(0, Self.byteLimit - byteCount) : 0 }

    package mutating func append(_ chunk: MessageChunk) {
        byteCount += chunk.bytes.count
        chunks.append(chunk)
    }

    /// Removes and returns the first chunk, or its first `limit` bytes.
    package mutating func pop(atMost limit: Int = .max) -> MessageChunk? {
        guard limit > 0, let first = chunks.first else { return nil }
        guard first.bytes.count > limit else {
            byteCount -= first.bytes.count
            return chunks.popFirst()
        }
        byteCount -= limit
        return chunks.first?.take(atMost: limit)
    }

    package mutating func removeAll() { self = MessageChunkQueue() }
}

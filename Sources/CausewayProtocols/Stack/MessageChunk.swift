/// One protocol's metadata for a message. In a received message, it is information from this protocol for the stages
/// above. In a message to send, it is information for this protocol.
package protocol StageMetadata: Sendable {}

/// Part of a message on its way through a ``ProtocolStack``, in either direction.
///
/// A byte stream is one message that ends with the stream. A message may consist of several chunks. Each chunk has the
/// message's metadata, and only the message's final chunk ends the message.
package struct MessageChunk: Sendable {
    /// How a chunk relates to the messages before and after it.
    package enum Kind: Sendable {
        /// Part of a message.
        case content
        /// A protocol's control message. It may come between two chunks of another message.
        case control
        /// A control message after which no more messages follow. If it comes between two chunks of another message,
        /// that message is never completed.
        case closing
    }

    package var bytes: ByteChain
    /// In a message to send: the metadata for all protocols; each protocol uses only its own. In a received message:
    /// metadata from the protocol that delivers the chunk, then from the protocols below it.
    package var metadata: [any StageMetadata]
    package var endsMessage: Bool
    /// Whether this is the last chunk in the sending or the receiving direction. If the last received chunk has
    /// ``endsMessage`` set to `false`, the last message is incomplete.
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

    /// Whether the chunk only ends the sending or the receiving direction, and is not a message.
    package var isBareEnd: Bool { isFinal && bytes.isEmpty && metadata.isEmpty }

    /// Returns a chunk with a copy of `bytes`, and with the metadata, flags and kind of this chunk.
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

    /// Removes at most `limit` bytes from the front and returns them as a chunk. The returned chunk ends the message
    /// only if no bytes remain.
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
    /// The queue is full when it has this many chunks, however few bytes they have.
    package static let chunkLimit = 1024
    /// The queue is full when its chunks have this many bytes.
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

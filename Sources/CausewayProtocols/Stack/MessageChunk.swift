/// What a protocol attaches to a message, for those above when it was received, for itself when it is to be sent.
package protocol StageMetadata: Sendable {}

/// A piece of a message on its way through a ``ProtocolStack``, in either direction.
///
/// A byte stream is one message that ends when the peer ends it. A message may travel in several chunks, each with the metadata;
/// only the last one ends it.
package struct MessageChunk: Sendable {
    /// How a piece relates to the messages around it.
    package enum Kind: Sendable {
        /// Part of the conversation, in which one message follows another.
        case content
        /// A message of the protocol itself. It may come between two pieces of a message, which goes on behind it.
        case control
        /// A control message that ends the conversation: a message that it interrupts is never completed.
        case closing
    }

    package var bytes: ByteChain
    /// On the way down, those of all protocols: each looks for its own. On the way up, that of the protocol that delivers,
    /// then those of the protocols below it.
    package var metadata: [any StageMetadata]
    package var endsMessage: Bool
    /// Nothing follows in this direction. On the way up without ``endsMessage``: the last message was cut off.
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

    /// The end of a direction, without content.
    package static var end: MessageChunk { MessageChunk(ByteChain(), isFinal: true) }

    /// Whether it ends the direction and is no message.
    package var isBareEnd: Bool { isFinal && bytes.isEmpty && metadata.isEmpty }

    /// The same with a copy of these bytes.
    package func holding(_ bytes: UnsafeRawBufferPointer) -> MessageChunk {
        var held = unsafe MessageChunk([UInt8](bytes), metadata: metadata, endsMessage: endsMessage, isFinal: isFinal)
        held.kind = kind
        return held
    }

    /// The first metadata of a type.
    package func metadata<Metadata: StageMetadata>(of type: Metadata.Type) -> Metadata? {
        for one in metadata { if let found = one as? Metadata { return found } }
        return nil
    }

    /// Takes at most `limit` bytes, which end the message if they are the last.
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

/// Chunks in order, and how many bytes they hold.
package struct MessageChunkQueue: Sendable {
    private var chunks = InlineFirstQueue<MessageChunk>()
    package private(set) var byteCount = 0

    package init() {}

    package var isEmpty: Bool { chunks.isEmpty }
    package var count: Int { chunks.count }
    package var first: MessageChunk? { chunks.first }

    package mutating func append(_ chunk: MessageChunk) {
        byteCount += chunk.bytes.count
        chunks.append(chunk)
    }

    /// The first chunk, or its beginning if it holds more bytes than `limit`.
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

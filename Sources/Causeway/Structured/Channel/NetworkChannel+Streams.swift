public import CausewayTypes
public import FoundationEssentials

extension NetworkChannel where ApplicationProtocol: StreamProtocol {
    /// Sends bytes; suspends until the transport has taken them.
    ///
    /// Cancelled while it waits, it takes back what has not begun to leave; what has begun leaves whole.
    ///
    /// - Parameters:
    ///   - content: The bytes.
    ///   - endOfStream: Whether the program sends no more. Receiving goes on.
    ///   - builder: What to tell the protocols below.
    // Inlined where the stack is known, as what it receives is: a generic frame for each waiting task would be larger and slower.
    @inlinable
    nonisolated(nonsending)
        public func send<Content>(
            _ content: Content, endOfStream: Bool = false,
            @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        try await sendBytes(content.bytes, isFinal: endOfStream, builder())
    }

    /// Sends an integer in network byte order; suspends until the transport has taken it.
    nonisolated(nonsending)
        public func send<Value>(
            _ value: Value, endOfStream: Bool = false,
            @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Value: NetworkFixedWidthInteger
    {
        try await sendBytes(value.networkData, isFinal: endOfStream, builder())
    }

    /// Sends bytes that do no harm when they arrive more than once: they may leave before the channel is ready.
    public func sendIdempotent<Content>(
        _ content: Content, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Content: DataProtocol {
        sendUnheard(content.bytes, other: builder(), isFinal: endOfStream)
    }

    /// Sends an integer in network byte order that does no harm when it arrives more than once.
    public func sendIdempotent<Value>(
        _ value: Value, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Value: NetworkFixedWidthInteger {
        sendUnheard(value.networkData, other: builder(), isFinal: endOfStream)
    }

    /// Receives as many bytes as there are, within bounds; fewer only where the stream ends, which the metadata tell.
    ///
    /// - Throws: `.posix(.ENODATA)` once the end was told.
    @inlinable
    nonisolated(nonsending)
        public func receive(atLeast: Int = 1, atMost: Int) async throws -> ApplicationProtocol.Message<Data>
    {
        let (content, isFinal) = try await receiveBytes(atLeast, atMost)
        return (content ?? Data(), try metadata(endOfStream: isFinal))
    }

    /// Receives so many bytes, never fewer.
    ///
    /// - Throws: `.posix(.ENODATA)` if the stream ends before them.
    @inlinable
    nonisolated(nonsending)
        public func receive(exactly: Int) async throws -> ApplicationProtocol.Message<Data>
    {
        guard exactly > 0 else { return (Data(), try metadata(endOfStream: false)) }
        let (content, isFinal) = try await receiveBytes(exactly, exactly)
        // A cut must not pass for the whole.
        guard let content, content.count == exactly else { throw Self.noMoreContent }
        return (content, try metadata(endOfStream: isFinal))
    }

    /// Receives an integer in network byte order.
    ///
    /// - Throws: `.posix(.ENODATA)` if the stream ends before it.
    nonisolated(nonsending)
        public func receive<Value>(as type: Value.Type) async throws -> ApplicationProtocol.Message<Value>
    where Value: NetworkFixedWidthInteger {
        let width = MemoryLayout<Value>.size
        let (content, isFinal) = try await receiveBytes(width, width)
        guard let content, let value = Value(networkData: content) else { throw NWError.posix(.ENODATA) }
        return (value, try metadata(endOfStream: isFinal))
    }

    // The choice is made where the stack is known.
    @inlinable
    func metadata(endOfStream: Bool) throws(NWError) -> ApplicationProtocol.Metadata {
        if ApplicationProtocol.self == TCP.self,
            let metadata = TCP.Metadata(endOfStream: endOfStream, source: stackSource) as? ApplicationProtocol.Metadata
        {
            return metadata
        }
        if ApplicationProtocol.self == TLS.self,
            let metadata = TLS.Metadata(endOfStream: endOfStream, source: stackSource) as? ApplicationProtocol.Metadata
        {
            return metadata
        }
        if ApplicationProtocol.self == QUICStream.self,
            let metadata = QUICStream.Metadata(endOfStream: endOfStream, other: []) as? ApplicationProtocol.Metadata
        {
            return metadata
        }
        throw Self.unknownElement
    }

    @usableFromInline static var noMoreContent: NWError { .posix(.ENODATA) }

    /// An element of the program's own carries nothing.
    @usableFromInline static var unknownElement: NWError { .posix(.ENOTSUP) }
}

public import CausewayTypes
public import FoundationEssentials

extension NetworkChannel where ApplicationProtocol: StreamProtocol {
    /// Sends bytes. Suspends until the transport has accepted them.
    ///
    /// - Parameters:
    ///   - content: The bytes.
    ///   - endOfStream: Whether this is the final content to send. Receiving is still possible.
    ///   - builder: Metadata for the protocols below.
    ///
    /// Cancellation: withdraws the content. If the transport has already started to send the content, all of it is
    /// sent.
    // Inlinable, so that the compiler knows the concrete protocol stack at the call. Otherwise this method would be
    // generic code at run time, and the async frame of each waiting task would be larger and slower.
    @inlinable
    nonisolated(nonsending)
        public func send<Content>(
            _ content: Content, endOfStream: Bool = false,
            @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        try await sendBytes(content.bytes, isFinal: endOfStream, builder())
    }

    /// Sends an integer in network byte order. Suspends until the transport has accepted it.
    ///
    /// Cancellation: withdraws the integer. If the transport has already started to send the integer, all of it is
    /// sent.
    nonisolated(nonsending)
        public func send<Value>(
            _ value: Value, endOfStream: Bool = false,
            @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Value: NetworkFixedWidthInteger
    {
        try await sendBytes(value.networkData, isFinal: endOfStream, builder())
    }

    /// Sends idempotent bytes: they may arrive more than once, and may be sent before the channel is ready.
    public func sendIdempotent<Content>(
        _ content: Content, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Content: DataProtocol {
        sendUnheard(content.bytes, other: builder(), isFinal: endOfStream)
    }

    /// Sends an integer in network byte order as idempotent content. The integer may therefore arrive more than once.
    public func sendIdempotent<Value>(
        _ value: Value, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Value: NetworkFixedWidthInteger {
        sendUnheard(value.networkData, other: builder(), isFinal: endOfStream)
    }

    /// Receives at least `atLeast` and at most `atMost` bytes. The result is shorter only at the end of the stream; the metadata then
    /// reports the end.
    ///
    /// - Throws: `.posix(.ENODATA)` after the end has been reported.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no byte is lost.
    @inlinable
    nonisolated(nonsending)
        public func receive(atLeast: Int = 1, atMost: Int) async throws -> ApplicationProtocol.Message<Data>
    {
        let (content, isFinal) = try await receiveBytes(atLeast, atMost)
        return (content ?? Data(), try metadata(endOfStream: isFinal))
    }

    /// Receives `exactly` bytes, neither more nor fewer.
    ///
    /// - Throws: `.posix(.ENODATA)` if the stream ends before all of them have arrived.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no byte is lost.
    @inlinable
    nonisolated(nonsending)
        public func receive(exactly: Int) async throws -> ApplicationProtocol.Message<Data>
    {
        guard exactly > 0 else { return (Data(), try metadata(endOfStream: false)) }
        let (content, isFinal) = try await receiveBytes(exactly, exactly)
        // If the stream has ended early, throw an error. Content that is too short must not be returned as if it were
        // complete.
        guard let content, content.count == exactly else { throw Self.noMoreContent }
        return (content, try metadata(endOfStream: isFinal))
    }

    /// Receives an integer in network byte order.
    ///
    /// - Throws: `.posix(.ENODATA)` if the stream ends before the whole integer has arrived.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no byte is lost.
    nonisolated(nonsending)
        public func receive<Value>(as type: Value.Type) async throws -> ApplicationProtocol.Message<Value>
    where Value: NetworkFixedWidthInteger {
        let width = MemoryLayout<Value>.size
        let (content, isFinal) = try await receiveBytes(width, width)
        guard let content, let value = Value(networkData: content) else { throw NWError.posix(.ENODATA) }
        return (value, try metadata(endOfStream: isFinal))
    }

    // This method is inlinable: if the type of the stack is known where the method is called, the compiler can select
    // the metadata type there, without checks at run time.
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

    /// The error for a stack element whose type the program defined. This library cannot transfer content for such an
    /// element.
    @usableFromInline static var unknownElement: NWError { .posix(.ENOTSUP) }
}

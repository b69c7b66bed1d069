internal import CausewayRuntime
internal import CausewayTypes
public import FoundationEssentials

extension NetworkChannel where ApplicationProtocol: StreamProtocol {
    /// Sends octets; suspends until the transport has taken them.
    ///
    /// Cancelled while it waits, it takes back what has not begun to leave; what has begun leaves whole.
    ///
    /// - Parameters:
    ///   - content: The octets.
    ///   - endOfStream: Whether the program sends no more. Receiving goes on.
    ///   - builder: What to tell the protocols below.
    nonisolated(nonsending)
        public func send<Content>(
            _ content: Content, endOfStream: Bool = false,
            @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        try await sendPiece(content.octets, isFinal: endOfStream, builder())
    }

    /// Sends an integer in network byte order; suspends until the transport has taken it.
    nonisolated(nonsending)
        public func send<Value>(
            _ value: Value, endOfStream: Bool = false,
            @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Value: NetworkFixedWidthInteger
    {
        try await sendPiece(value.networkData, isFinal: endOfStream, builder())
    }

    /// Sends octets that do no harm when they arrive more than once: they may leave before the channel is ready.
    public func sendIdempotent<Content>(
        _ content: Content, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Content: DataProtocol {
        sendUnheard(content.octets, other: builder(), isFinal: endOfStream)
    }

    /// Sends an integer in network byte order that does no harm when it arrives more than once.
    public func sendIdempotent<Value>(
        _ value: Value, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Value: NetworkFixedWidthInteger {
        sendUnheard(value.networkData, other: builder(), isFinal: endOfStream)
    }

    /// Receives as many octets as there are, within bounds; fewer only where the stream ends, which the metadata tell.
    ///
    /// - Throws: `.posix(.ENODATA)` once the end was told.
    nonisolated(nonsending)
        public func receive(atLeast: Int = 1, atMost: Int) async throws -> ApplicationProtocol.Message<Data>
    {
        let piece = try await receivePiece(atLeast, atMost)
        return (piece.data ?? Data(), try Self.metadata(endOfStream: piece.isFinal))
    }

    /// Receives so many octets, never fewer.
    ///
    /// - Throws: `.posix(.ENODATA)` if the stream ends before them.
    nonisolated(nonsending)
        public func receive(exactly: Int) async throws -> ApplicationProtocol.Message<Data>
    {
        guard exactly > 0 else { return (Data(), try Self.metadata(endOfStream: false)) }
        let piece = try await receivePiece(exactly, exactly)
        return (try piece.whole(exactly), try Self.metadata(endOfStream: piece.isFinal))
    }

    /// Receives an integer in network byte order.
    ///
    /// - Throws: `.posix(.ENODATA)` if the stream ends before it.
    nonisolated(nonsending)
        public func receive<Value>(as type: Value.Type) async throws -> ApplicationProtocol.Message<Value>
    where Value: NetworkFixedWidthInteger {
        let width = MemoryLayout<Value>.size
        let piece = try await receivePiece(width, width)
        guard let value = Value(networkData: try piece.whole(width)) else { throw NWError.posix(.ENODATA) }
        return (value, try Self.metadata(endOfStream: piece.isFinal))
    }

    @inline(__always)
    private static func metadata(endOfStream: Bool) throws(NWError) -> ApplicationProtocol.Metadata {
        if ApplicationProtocol.self == TCP.self,
            let metadata = TCP.Metadata(endOfStream: endOfStream, other: []) as? ApplicationProtocol.Metadata
        {
            return metadata
        }
        if ApplicationProtocol.self == TLS.self,
            let metadata = TLS.Metadata(endOfStream: endOfStream, other: []) as? ApplicationProtocol.Metadata
        {
            return metadata
        }
        if ApplicationProtocol.self == QUICStream.self,
            let metadata = QUICStream.Metadata(endOfStream: endOfStream, other: []) as? ApplicationProtocol.Metadata
        {
            return metadata
        }
        // An element of the program's own carries nothing.
        throw .posix(.ENOTSUP)
    }
}

extension StreamPiece {
    /// The content, if there is all of it: a cut must not pass for the whole.
    fileprivate func whole(_ count: Int) throws(NWError) -> Data {
        guard let data, data.count == count else { throw .posix(.ENODATA) }
        return data
    }
}

public import FoundationEssentials

extension NetworkChannel where ApplicationProtocol: MessageProtocol {
    /// Whole messages, until the peer ends or something fails.
    public var messages: AsyncThrowingStream<ApplicationProtocol.Message<ApplicationProtocol.ContentType>, any Error> {
        AsyncThrowingStream { try await self.use() }
    }
}

extension NetworkChannel where ApplicationProtocol: DatagramProtocol {
    /// Sends a datagram; suspends until the transport has taken it.
    public func send<Content>(
        _ content: Content, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws where Content: DataProtocol {
        try await use()
    }

    /// Receives a datagram.
    public func receive() async throws -> ApplicationProtocol.Message<Data> { try await use() }
}

extension NetworkChannel where ApplicationProtocol == TLV {
    /// Sends a message of a type; suspends until the transport has taken it.
    public func send<Content>(
        _ content: Content, type: Int, lastMessage: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws where Content: DataProtocol {
        try await use()
    }

    /// Sends a message of a type that does no harm when it arrives more than once.
    public func sendIdempotent<Content>(
        _ content: Content, type: Int, lastMessage: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Content: DataProtocol {
        useUnheard()
    }

    /// Receives a message.
    public func receive() async throws -> ApplicationProtocol.Message<Data> { try await use() }
}

extension NetworkChannel {
    /// Sends a value; suspends until the transport has taken it.
    public func send<Sending, Receiving, CoderType>(
        _ content: Sending, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws
    where
        ApplicationProtocol == Coder<Sending, Receiving, CoderType>, Sending: Encodable, Receiving: Decodable,
        CoderType: NetworkCoder
    {
        try await use()
    }

    /// Receives a value.
    public func receive<Sending, Receiving, CoderType>() async throws -> ApplicationProtocol.Message<Receiving>
    where
        ApplicationProtocol == Coder<Sending, Receiving, CoderType>, Sending: Encodable, Receiving: Decodable,
        CoderType: NetworkCoder
    {
        try await use()
    }

    /// Sends a message through a framer; suspends until the transport has taken it.
    public func send<T>(
        _ content: Data, lastMessage: Bool = false, metadata: NWProtocolFramer.Message? = nil,
        @ProtocolMetadataBuilder other builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws where ApplicationProtocol == Framer<T>, T: FramerProtocol {
        try await use()
    }

    /// Receives a message from a framer.
    public func receive<T>() async throws -> ApplicationProtocol.Message<Data>
    where ApplicationProtocol == Framer<T>, T: FramerProtocol {
        try await use()
    }
}

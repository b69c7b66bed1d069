public import FoundationEssentials

extension NetworkChannel where ApplicationProtocol == WebSocket {
    /// Sends a text; suspends until the transport has taken it.
    public func send(
        _ content: String, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws {
        try await use()
    }

    /// Sends a text that does no harm when it arrives more than once.
    public func sendIdempotent(
        _ content: String, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) {
        useUnheard()
    }

    /// Sends octets; suspends until the transport has taken them.
    public func send<Content>(
        _ content: Content, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws where Content: DataProtocol {
        try await use()
    }

    /// Sends octets that do no harm when they arrive more than once.
    public func sendIdempotent<Content>(
        _ content: Content, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Content: DataProtocol {
        useUnheard()
    }

    /// Sends one text in parts: `handler` gets a function that sends a part and says whether it is the last.
    public func startSend(
        _ content: String, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] },
        handler: (_ send: (_ content: String, _ isComplete: Bool) async throws -> Void) async throws -> Void
    ) async throws {
        try await use()
    }

    /// Sends one message of octets in parts: `handler` gets a function that sends a part and says whether it is the last.
    public func startSend<Content>(
        _ content: Content, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] },
        handler: (_ send: (_ content: Content, _ isComplete: Bool) async throws -> Void) async throws -> Void
    ) async throws where Content: DataProtocol {
        try await use()
    }

    /// Asks whether the peer is there (RFC 6455 §5.5.2).
    public func ping<Content>(
        _ content: Content? = nil, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws where Content: DataProtocol {
        try await use()
    }

    /// Answers a ping (RFC 6455 §5.5.3).
    public func pong<Content>(
        _ content: Content? = nil, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws where Content: DataProtocol {
        try await use()
    }

    /// Ends the conversation (RFC 6455 §5.5.1).
    public func close(
        code: NWProtocolWebSocket.CloseCode = .protocolCode(.normalClosure), reason: String? = nil,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws {
        try await use()
    }

    /// Receives a message.
    public func receive() async throws -> ApplicationProtocol.Message<Data> { try await use() }

    /// Receives one message in parts: `handler` gets a function that receives a part.
    public func startReceive(
        _ handler: (
            _ receive: (_ atLeast: Int, _ atMost: Int) async throws -> ApplicationProtocol.Message<Data>
        ) async throws -> Void
    ) async throws {
        try await use()
    }
}

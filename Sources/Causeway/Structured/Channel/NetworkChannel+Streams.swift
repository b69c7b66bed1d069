public import FoundationEssentials

extension NetworkChannel where ApplicationProtocol: StreamProtocol {
    /// Sends octets; suspends until the transport has taken them.
    ///
    /// - Parameters:
    ///   - content: The octets.
    ///   - endOfStream: Whether the program sends no more.
    ///   - builder: What to tell the protocols below.
    public func send<Content>(
        _ content: Content, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws where Content: DataProtocol {
        try await use()
    }

    /// Sends an integer in network byte order; suspends until the transport has taken it.
    public func send<Value>(
        _ value: Value, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) async throws where Value: NetworkFixedWidthInteger {
        try await use()
    }

    /// Sends octets that do no harm when they arrive more than once: they may leave before the channel is ready.
    public func sendIdempotent<Content>(
        _ content: Content, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Content: DataProtocol {
        useUnheard()
    }

    /// Sends an integer in network byte order that does no harm when it arrives more than once.
    public func sendIdempotent<Value>(
        _ value: Value, endOfStream: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Value: NetworkFixedWidthInteger {
        useUnheard()
    }

    /// Receives as many octets as there are, within bounds.
    public func receive(atLeast: Int = 1, atMost: Int) async throws -> ApplicationProtocol.Message<Data> {
        try await use()
    }

    /// Receives so many octets.
    public func receive(exactly: Int) async throws -> ApplicationProtocol.Message<Data> { try await use() }

    /// Receives an integer in network byte order.
    public func receive<Value>(as type: Value.Type) async throws -> ApplicationProtocol.Message<Value>
    where Value: NetworkFixedWidthInteger {
        try await use()
    }
}

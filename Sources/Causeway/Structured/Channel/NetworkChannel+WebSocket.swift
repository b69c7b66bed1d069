internal import CausewayProtocols
internal import CausewayTypes
public import FoundationEssentials

extension NetworkChannel where ApplicationProtocol == WebSocket {
    /// Sends a text message. Suspends until the transport has accepted it.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel stays usable.
    nonisolated(nonsending)
        public func send(
            _ content: String, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws
    {
        try await sendMessage(Data(content.utf8), .text, other: builder())
    }

    /// Sends an idempotent text message: it may arrive more than once.
    public func sendIdempotent(
        _ content: String, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) {
        sendUnheard(Data(content.utf8), .text, other: builder())
    }

    /// Sends a binary message. Suspends until the transport has accepted it.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel stays usable.
    nonisolated(nonsending)
        public func send<Content>(
            _ content: Content, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        try await sendMessage(content.bytes, .binary, other: builder())
    }

    /// Sends a binary message as idempotent content. The message may therefore arrive more than once.
    public func sendIdempotent<Content>(
        _ content: Content, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Content: DataProtocol {
        sendUnheard(content.bytes, .binary, other: builder())
    }

    /// Sends one text message in parts. The first part is `content`.
    ///
    /// `handler` receives a function that sends a part. The function's second argument is `true` for the message's
    /// final part.
    ///
    /// If `handler` returns without sending a final part, this method completes the message. If `handler` throws, the
    /// channel ends, because no other message can follow an incomplete message.
    ///
    /// Cancellation: ends the pending operation in `handler`.
    nonisolated(nonsending)
        public func startSend(
            _ content: String, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] },
            handler: (_ send: (_ content: String, _ isComplete: Bool) async throws -> Void) async throws -> Void
        ) async throws
    {
        let parts = MessageParts(of: self, .text, builder())
        try await parts.whole {
            try await parts.send(Data(content.utf8), isLast: false)
            try await handler { part, isComplete in try await parts.send(Data(part.utf8), isLast: isComplete) }
        }
    }

    /// Sends one binary message in parts, as ``startSend(_:metadata:handler:)`` does with a text message.
    ///
    /// Cancellation: ends the pending operation in `handler`.
    nonisolated(nonsending)
        public func startSend<Content>(
            _ content: Content, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] },
            handler: (_ send: (_ content: Content, _ isComplete: Bool) async throws -> Void) async throws -> Void
        ) async throws where Content: DataProtocol
    {
        let parts = MessageParts(of: self, .binary, builder())
        try await parts.whole {
            try await parts.send(content.bytes, isLast: false)
            try await handler { part, isComplete in try await parts.send(part.bytes, isLast: isComplete) }
        }
    }

    /// Sends a ping (RFC 6455 §5.5.2). Suspends until the transport has accepted it. The reply is a `.pong` message, unless a
    /// ``NWProtocolWebSocket/Metadata/setPongHandler(_:handler:)`` handler receives it.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel stays usable.
    nonisolated(nonsending)
        public func ping<Content>(
            _ content: Content? = nil, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        try await sendMessage(
            content?.bytes ?? Data(), other: [NWProtocolWebSocket.Metadata(opcode: .ping)] + builder())
    }

    /// Sends a pong as the reply to a ping (RFC 6455 §5.5.3).
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel stays usable.
    nonisolated(nonsending)
        public func pong<Content>(
            _ content: Content? = nil, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        try await sendMessage(
            content?.bytes ?? Data(), other: [NWProtocolWebSocket.Metadata(opcode: .pong)] + builder())
    }

    /// Sends a close frame (RFC 6455 §5.5.1). No message can be sent afterwards. The peer replies with a `.close` message, followed by the
    /// end of the stream. A reason has at most 123 bytes; a longer reason is truncated.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel stays usable.
    nonisolated(nonsending)
        public func close(
            code: NWProtocolWebSocket.CloseCode = .protocolCode(.normalClosure), reason: String? = nil,
            @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws
    {
        let metadata = NWProtocolWebSocket.Metadata(opcode: .close)
        metadata.closeCode = code
        try await sendMessage(Data((reason ?? "").utf8), other: [metadata] + builder())
    }

    /// Receives a message.
    ///
    /// - Throws: `.posix(.ENODATA)` after the connection has ended.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no message is lost.
    nonisolated(nonsending)
        public func receive() async throws -> ApplicationProtocol.Message<Data>
    {
        WebSocket.message(try await receiveWhole(), nil, stackListing)
    }

    /// Receives one message in parts. `handler` is called with a function that receives a part.
    ///
    /// - Throws: Any error from `handler`.
    ///
    /// Cancellation: ends the pending operation in `handler`.
    nonisolated(nonsending)
        public func startReceive(
            _ handler: (
                _ receive: (_ atLeast: Int, _ atMost: Int) async throws -> ApplicationProtocol.Message<Data>
            ) async throws -> Void
        ) async throws
    {
        try await handler { atLeast, atMost in
            WebSocket.message(try await self.receivePart(atLeast, atMost), nil, self.stackListing)
        }
    }
}

/// The state of a message that the program sends in several parts.
private final class MessageParts {
    private let channel: NetworkChannel<WebSocket>
    private let kind: [any StageMetadata]
    private let other: [NWProtocolMetadata]
    private var isComplete = false

    init(of channel: NetworkChannel<WebSocket>, _ kind: [any StageMetadata], _ other: [NWProtocolMetadata]) {
        self.channel = channel
        self.kind = kind
        self.other = other
    }

    nonisolated(nonsending) func send(_ part: Data, isLast: Bool) async throws {
        guard !isComplete else { throw NWError.posix(.EINVAL) }
        isComplete = isLast
        try await channel.sendMessage(part, kind, other: other, endsMessage: isLast)
    }

    /// Runs `body`, which sends the message's parts. If `body` has not sent the final part, completes the message. If
    /// `body` throws, the channel ends.
    nonisolated(nonsending) func whole(_ body: () async throws -> Void) async throws {
        do {
            try await body()
            if !isComplete { try await send(Data(), isLast: true) }
        } catch {
            channel.connection.cancel()
            throw error
        }
    }
}

extension [any StageMetadata] {
    fileprivate static var text: Self { [WebSocketMetadata(opcode: .text)] }
    fileprivate static var binary: Self { [WebSocketMetadata(opcode: .binary)] }
}

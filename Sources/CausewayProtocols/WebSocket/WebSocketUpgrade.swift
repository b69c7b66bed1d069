internal import CausewayWire

/// One side of the opening handshake (RFC 6455 §4.1, §4.2). Contains the part of the peer's message that has been read,
/// and the client's request.
struct WebSocketUpgrade: Sendable {
    /// What the peer's handshake message means.
    enum Outcome {
        /// On a server: a client asks for the upgrade. ``answer(_:)`` ends the handshake.
        case requested(UpgradeRequest)
        /// On a client: the server has accepted the WebSocket upgrade.
        case accepted(UpgradeResponse)
    }

    let isServer: Bool
    private let compression: WebSocketCompression?
    private var head: HeadReader
    /// The client's upgrade request. On a client, it is `nil` after the handshake. On a server, it is also `nil` until
    /// the request has been read.
    private var request: UpgradeRequest?

    /// - Parameter compression: The compression to negotiate; `nil` for none.
    init(_ role: WebSocketMachine.Role, compression: WebSocketCompression?) {
        self.compression = compression
        switch role {
        case .client(let request):
            isServer = false
            head = HeadReader(.response, limits: .upgrade)
            self.request = request
        case .server:
            isServer = true
            head = HeadReader(.request, limits: .upgrade)
        }
    }

    /// Whether the connection fails if the peer does not agree to compress messages.
    var requiresCompression: Bool { compression?.isRequired ?? false }

    /// Completes and encodes a client's request.
    ///
    /// - Parameter key: The value of `Sec-WebSocket-Key`.
    mutating func begin(key: String) throws(UpgradeError) -> [UInt8] {
        request?.key = key
        if let compression { request?.deflateOffers = [compression.parameters] }
        guard let request else { return [] }
        return try request.serialized()
    }

    /// Reads the peer's message. Returns `nil` if more input is needed.
    ///
    /// - Throws: ``UpgradeError``. The connection must then be ended. A server first sends the response from
    ///   ``refusal(_:)``.
    mutating func read(_ input: inout WebSocketInput) throws(UpgradeError) -> Outcome? {
        do {
            try input.read(&head)
        } catch {
            throw UpgradeError(error)
        }
        guard head.isComplete else { return nil }
        guard isServer else {
            guard let found = head.finishResponse(), let sent = request.take() else { return nil }
            return .accepted(try UpgradeResponse(found, for: sent))
        }
        guard let found = head.finishRequest() else { return nil }
        let received = try UpgradeRequest(found)
        request = received
        return .requested(received)
    }

    /// Completes and encodes a server's response.
    ///
    /// - Throws: ``UpgradeError`` if the response cannot be encoded, or if the client does not offer a compression that
    ///   the program requires.
    mutating func answer(
        _ response: UpgradeResponse
    ) throws(UpgradeError) -> (response: UpgradeResponse, bytes: [UInt8]) {
        let received = request.take()
        var response = response
        if response.status == 101, let compression {
            response.deflate = MessageDeflate.answer(to: received?.deflateOffers ?? [], own: compression.parameters)
            guard response.deflate != nil || !compression.isRequired else { throw .missingExtension }
        }
        return (response, try response.serialized(for: received))
    }

    /// Returns a codec for the compression parameters in the server's answer. Returns `nil` if messages are not
    /// compressed.
    func codec(_ agreed: MessageDeflate?) -> (any WebSocketCodec)? {
        guard let agreed, let compression else { return nil }
        return compression.makeCodec(agreed, isServer)
    }

    /// Returns the response that a server sends if it refuses a request because of `error`.
    static func refusal(_ error: UpgradeError) -> [UInt8] {
        (try? UpgradeResponse(refusing: error).serialized(for: nil)) ?? []
    }
}

internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// The client's side of a WebSocket opening handshake (RFC 6455 §4.1).
struct WebSocketHandshake {
    /// The handshake fields that the loader sets. The program's values are removed.
    private static let fields = [
        "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Accept",
        "Sec-WebSocket-Extensions",
    ]

    private let network: HTTPNetwork

    init(_ network: HTTPNetwork) { self.network = network }

    /// Turns a request into a WebSocket opening handshake. A program offers subprotocols with the field
    /// `Sec-WebSocket-Protocol`.
    func add(to value: inout HTTPRequestValue) throws(LoadFailure) {
        let compression = try compression()
        for name in Self.fields { value.fields.removeAll(name) }
        var random = SystemRandomNumberGenerator()
        value.fields.append("Upgrade", "websocket")
        value.fields.append("Connection", "Upgrade")
        value.fields.append("Sec-WebSocket-Key", WebSocketAccept.key(using: &random))
        value.fields.append("Sec-WebSocket-Version", "13")
        if let compression { value.fields.append("Sec-WebSocket-Extensions", compression.parameters.serialized) }
        value.isUpgrade = true
    }

    /// Returns the compression to offer to the server; `nil` if the session's configuration sets none.
    private func compression() throws(LoadFailure) -> WebSocketCompression? {
        do throws(NWError) {
            return try network.settings.http.webSocketCompression?.plan(isServer: false)
        } catch {
            throw LoadFailure(
                .encodingUnknown, underlying: error,
                details: [LoadFailure.reasonKey: "zlib is needed to compress messages"])
        }
    }

    /// Returns the opened WebSocket connection. Throws an error if the response does not complete the handshake, or if
    /// the server does not agree to a compression that the program requires.
    ///
    /// - Parameter offered: The offered subprotocols.
    func opening(
        _ head: HTTPResponseHead, _ response: HTTPURLResponse, key: String, offered: [String],
        _ stream: HTTPUpgradedStream
    ) throws(UpgradeError) -> WebSocketOpening {
        var upgrade = UpgradeRequest(authority: "", subprotocols: offered, key: key)
        let compression = (try? compression()) ?? nil
        upgrade.deflateOffers = (compression.map { [$0.parameters] }) ?? []
        let answer = try UpgradeResponse(head, for: upgrade)
        let codec = answer.deflate.flatMap { compression?.makeCodec($0, false) }
        if codec == nil, compression?.isRequired == true { throw .missingExtension }
        return WebSocketOpening(response, subprotocol: answer.subprotocol, codec, stream)
    }
}

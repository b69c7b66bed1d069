package import CausewayProtocols
internal import CausewayWire

extension NWProtocolWebSocket {
    /// Message compression with the `permessage-deflate` extension (RFC 7692). It needs zlib (`libz.so.1`), which is loaded at run time.
    ///
    /// A connection with compression uses up to 300 KiB more memory. A smaller window, or no context takeover, reduces this. Do not
    /// compress secrets together with attacker-controlled data: the message size can reveal them.
    ///
    /// Counterpart: none.
    public struct Compression: Sendable, Hashable {
        /// Whether the connection fails if the peer does not agree to compress messages, or if zlib cannot be loaded
        /// (default: `false`).
        public var isRequired = false
        /// Whether the compression context is kept between messages in the same direction (default: `true`). This compresses better, but
        /// the memory stays allocated between messages.
        public var usesContextTakeover = true
        /// The maximum LZ77 window for both directions, in bits, from 9 to 15 (default: 15).
        public var maximumWindowBits = 15

        /// Creates the default settings: messages are compressed if the peer agrees.
        public init() {}
    }
}

extension NWProtocolWebSocket.Compression {
    /// Returns the compression to negotiate; `nil` if zlib cannot be loaded.
    ///
    /// - Throws: `.posix(.ENOTSUP)` if zlib cannot be loaded although compression is required.
    package func plan(
        isServer: Bool, isAvailable: Bool = DeflateCodec.isAvailable
    ) throws(NWError) -> WebSocketCompression? {
        guard isAvailable else {
            if isRequired { throw .posix(.ENOTSUP) }
            return nil
        }
        let parameters = parameters(isServer: isServer)
        return WebSocketCompression(parameters, isRequired: isRequired) { agreed, isServer in
            DeflateCodec(agreed, own: parameters, isServer: isServer)
        }
    }

    private func parameters(isServer: Bool) -> MessageDeflate {
        var parameters = MessageDeflate()
        parameters.serverNoContextTakeover = !usesContextTakeover
        parameters.clientNoContextTakeover = !usesContextTakeover
        let bits = min(15, max(9, maximumWindowBits))
        if bits < 15 {
            parameters.serverWindow = .bits(bits)
            parameters.clientWindow = .bits(bits)
        } else if !isServer {
            parameters.clientWindow = .supported
        }
        return parameters
    }
}

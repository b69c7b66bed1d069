internal import CCausewayLibraries
package import CausewayProtocols
internal import CausewaySystem
package import CausewayWire

/// Compresses and decompresses WebSocket messages with zlib (RFC 7692 §7.2).
///
/// Each direction allocates its zlib state at its first compressed message: at most 256 KiB for sending and 40 KiB for
/// receiving. A window that is one bit smaller needs half the memory. Without context takeover, the state is freed
/// after each message.
package final class DeflateCodec: WebSocketCodec {
    /// The compression parameters for one direction: sending or receiving.
    private struct Direction: Sendable {
        var windowBits: Int
        var takesContextOver: Bool
    }

    private struct State {
        var deflater: Deflater?
        var inflater: Inflater?
    }

    /// Whether zlib can be loaded.
    package static let isAvailable = cw_coding_load(CW_LIBRARY_ZLIB) == nil

    private let sending: Direction
    private let receiving: Direction
    private let state = LockedValue(State())

    /// - Parameters:
    ///   - agreed: The negotiated parameters from the server's response.
    ///   - own: The configuration of this side. Its limits apply to outgoing compression even if the negotiated
    ///     parameters allow more.
    package init(_ agreed: MessageDeflate, own: MessageDeflate, isServer: Bool) {
        let server = Direction(
            windowBits: agreed.serverWindow.maximumBits, takesContextOver: !agreed.serverNoContextTakeover)
        let client = Direction(
            windowBits: agreed.clientWindow.maximumBits, takesContextOver: !agreed.clientNoContextTakeover)
        var sending = isServer ? server : client
        let wanted = isServer ? own.serverWindow : own.clientWindow
        sending.windowBits = min(sending.windowBits, wanted.maximumBits)
        if isServer ? own.serverNoContextTakeover : own.clientNoContextTakeover { sending.takesContextOver = false }
        self.sending = sending
        receiving = isServer ? client : server
    }

    package func compress(_ bytes: ArraySlice<UInt8>, flushes: Bool) -> [UInt8]? {
        state.withLock { state in
            if state.deflater == nil { state.deflater = Deflater(windowBits: sending.windowBits) }
            return state.deflater?.compress(bytes, flushes: flushes)
        }
    }

    package func endCompressing() {
        if !sending.takesContextOver { state.withLock { $0.deflater = nil } }
    }

    package func decompress(_ bytes: ArraySlice<UInt8>, atMost limit: Int) -> WebSocketInflation {
        state.withLock { state in
            if state.inflater == nil { state.inflater = Inflater(windowBits: receiving.windowBits) }
            return state.inflater?.decompress(bytes, atMost: limit)
                ?? WebSocketInflation(consumed: 0, output: [], isFull: false, problem: "out of memory")
        }
    }

    package func endDecompressing() -> Bool {
        state.withLock { state in
            defer { if !receiving.takesContextOver { state.inflater = nil } }
            return state.inflater?.isBetweenBlocks ?? false
        }
    }
}

/// A zlib compressor.
private final class Deflater {
    private static let roomLimit = 64 << 10

    private let handle: OpaquePointer

    /// Returns `nil` if memory allocation fails.
    init?(windowBits: Int) {
        guard let handle = cw_deflater_new(CInt(windowBits)) else { return nil }
        self.handle = handle
    }

    deinit { cw_deflater_free(handle) }

    /// Compresses all bytes. Returns `nil` on failure.
    func compress(_ bytes: ArraySlice<UInt8>, flushes: Bool) -> [UInt8]? {
        var all: [UInt8] = []
        var rest = bytes
        while true {
            let room = min(Self.roomLimit, 64 + rest.count / (rest.count < 1024 ? 1 : 2))
            var (consumed, produced, isValid) = (rest.count, room, true)
            let output = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                isValid = rest.withUnsafeBufferPointer {
                    cw_deflater_step(handle, $0.baseAddress, &consumed, buffer.baseAddress, &produced, flushes)
                }
                count = produced
            }
            guard isValid else { return nil }
            if all.isEmpty { all = output } else { all += output }
            rest = rest.dropFirst(consumed)
            // If zlib has filled the output buffer, it may have more output. So return only if the buffer still has
            // space.
            if produced < room { return all }
        }
    }
}

/// A zlib decompressor.
private final class Inflater {
    /// The expected compression ratio, which sizes the output buffer.
    private static let expectedRatio = 4

    private let handle: OpaquePointer

    /// Returns `nil` if memory allocation fails.
    init?(windowBits: Int) {
        guard let handle = cw_inflater_new(CInt(windowBits)) else { return nil }
        self.handle = handle
    }

    deinit { cw_inflater_free(handle) }

    var isBetweenBlocks: Bool { cw_inflater_is_between_blocks(handle) }

    /// Decompresses bytes. A correct peer refers only to bytes within the window. A reference to older bytes is not
    /// always an error: zlib reports an error only if it no longer has these bytes. It still has all bytes that it
    /// wrote in the same call.
    func decompress(_ bytes: ArraySlice<UInt8>, atMost limit: Int) -> WebSocketInflation {
        let room = max(1, min(limit, max(512, bytes.count * Self.expectedRatio)))
        var (consumed, produced, isValid) = (bytes.count, room, true)
        let output = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            isValid = bytes.withUnsafeBufferPointer {
                cw_inflater_step(handle, $0.baseAddress, &consumed, buffer.baseAddress, &produced)
            }
            count = produced
        }
        return WebSocketInflation(
            consumed: consumed, output: output, isFull: produced == room,
            problem: isValid ? nil : String(cString: cw_inflater_problem(handle)))
    }
}

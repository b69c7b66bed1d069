/// Content that a TLS 1.3 client sends before the handshake is complete (RFC 8446 §2.3).
enum EarlyData {
    case none
    /// A client's content, of which OpenSSL has accepted `sentCount` bytes. The content is kept until the handshake is
    /// complete, because the server may reject it.
    case sending([UInt8], sentCount: Int)
    /// A server's input so far. The client may send more.
    case receiving([UInt8])
    /// A server's complete input, which is read after the handshake. It is not empty.
    case received([UInt8])

    /// The size in bytes of the content to send, including bytes that were already sent.
    var outputCount: Int {
        if case .sending(let bytes, _) = self { bytes.count } else { 0 }
    }

    /// Adds content to send. Call before the handshake.
    mutating func appendOutput(_ content: UnsafeRawBufferPointer) {
        guard case .sending(var bytes, let sentCount) = self else {
            self = .sending([UInt8](content), sentCount: 0)
            return
        }
        // Without this assignment, two values would share the array, and appending would copy it.
        self = .none
        bytes += content
        self = .sending(bytes, sentCount: sentCount)
    }

    /// Removes and returns all content to send, including content that was already sent.
    mutating func takeOutput() -> [UInt8] {
        guard case .sending(let bytes, _) = self else { return [] }
        self = .none
        return bytes
    }

    /// Adds received content.
    mutating func appendInput(_ content: ArraySlice<UInt8>) {
        guard case .receiving(var bytes) = self else { return }
        self = .none
        bytes += content
        self = .receiving(bytes)
    }

    /// Ends the input: the client sends no more early data.
    mutating func endInput() {
        guard case .receiving(let bytes) = self else { return }
        self = bytes.isEmpty ? .none : .received(bytes)
    }

    /// Moves received content to `buffer`. Returns the number of bytes; `nil` if there is no content to read.
    mutating func takeInput(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard case .received(var bytes) = self else { return nil }
        self = .none
        let count = min(buffer.count, bytes.count)
        buffer.copyBytes(from: bytes[..<count])
        bytes.removeFirst(count)
        if !bytes.isEmpty { self = .received(bytes) }
        return count
    }
}

/// Content that a TLS 1.3 client sends before the handshake is complete (RFC 8446 §2.3).
enum EarlyData {
    case none
    /// Early data that a client sends. OpenSSL has accepted the first `sentCount` bytes. All bytes are kept until the
    /// handshake is complete, because the server may reject them.
    case sending([UInt8], sentCount: Int)
    /// A server's input so far. The client may send more.
    case receiving([UInt8])
    /// The early data that a server has received completely. It is not empty, and is read after the handshake.
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
        // Clear `self` first, so that only `bytes` refers to the array. Otherwise appending would copy the array.
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

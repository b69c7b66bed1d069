package import CausewayWire

/// The client side of a D-Bus connection: authentication, then messages (D-Bus Specification, "Authentication
/// Protocol").
///
/// This type does no I/O: its owner passes bytes in both directions. An incomplete message stays in the buffer, up to
/// ``DBusMessage/byteLimit`` bytes. After a framing error the conversation is ended and ignores all input.
package struct BusConversation: Sendable {
    private enum State: Sendable {
        /// D-Bus authentication is still in progress.
        case introducing
        case talking
        case ended(String)
    }

    /// The maximum length in bytes of a line during D-Bus authentication.
    private static let lineLimit = 1_024

    private var state = State.introducing
    private var arrived: [UInt8] = []
    private var output: [UInt8]
    /// Messages that wait until authentication is finished.
    private var held: [UInt8] = []
    private var lastSerial: UInt32 = 0

    /// - Parameter user: The process's user ID. The bus verifies the ID with the kernel.
    package init(user: UInt32) {
        let digits = String(user).utf8.map { "3\($0 - UInt8(ascii: "0"))" }.joined()
        output = [0] + "AUTH EXTERNAL \(digits)\r\n".utf8
    }

    /// Why the conversation ended; `nil` while it is open.
    package var end: String? {
        if case .ended(let reason) = state { reason } else { nil }
    }

    /// Returns the bytes to send and clears the buffer.
    package mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Queues a message with the next serial number. Returns the serial number.
    @discardableResult
    package mutating func send(_ message: DBusMessage) -> UInt32 {
        lastSerial = lastSerial == .max ? 1 : lastSerial + 1
        var message = message
        message.serial = lastSerial
        switch state {
        case .introducing: held += message.encoded
        case .talking: output += message.encoded
        case .ended: break
        }
        return lastSerial
    }

    /// Processes received bytes, in pieces of any size. Returns the messages that are now complete. A malformed message is dropped; the
    /// conversation continues.
    package mutating func receive(_ bytes: [UInt8]) -> [DBusMessage] {
        if end != nil { return [] }
        arrived += bytes
        if case .introducing = state { readLine() }
        guard case .talking = state else { return [] }
        var messages: [DBusMessage] = []
        var start = 0
        while let count = nextCount(from: start), start + count <= arrived.count {
            let message = try? DBusMessage(parsing: arrived.span.extracting(start..<start + count))
            if let message { messages.append(message) }
            start += count
        }
        if end == nil { arrived.removeFirst(start) } else { arrived = [] }
        return messages
    }

    /// Returns the byte count of the message at `start`; `nil` if the header is incomplete or malformed. A malformed
    /// header ends the conversation.
    private mutating func nextCount(from start: Int) -> Int? {
        do throws(WireError) {
            return try DBusMessage.byteCount(of: arrived.span.extracting(start..<arrived.count))
        } catch {
            state = .ended("malformed D-Bus message: \(error)")
            return nil
        }
    }

    private mutating func readLine() {
        guard let end = arrived.firstIndex(of: UInt8(ascii: "\n")) else {
            if arrived.count > Self.lineLimit { finish("the authentication reply of the bus is too long") }
            return
        }
        let line = String(decoding: arrived[..<end], as: UTF8.self)
        arrived.removeFirst(end + 1)
        guard line.hasPrefix("OK ") || line == "OK\r" else {
            return finish("the bus rejected the authentication: \(line.filter { !$0.isNewline })")
        }
        state = .talking
        output += "BEGIN\r\n".utf8
        output += held
        held = []
    }

    private mutating func finish(_ reason: String) {
        state = .ended(reason)
        (arrived, held) = ([], [])
    }
}

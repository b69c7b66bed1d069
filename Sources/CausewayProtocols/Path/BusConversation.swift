package import CausewayWire

/// One program's conversation with a message bus: it says who it is, and then there are messages (D-Bus Specification,
/// "Authentication Protocol").
///
/// It does no I/O: its owner carries bytes both ways. What has arrived and is no whole message yet is kept, up to
/// ``DBusMessage/byteLimit``. After an error in the framing it is ended, and inert.
package struct BusConversation: Sendable {
    private enum State: Sendable {
        /// The bus has not said yet that it knows us.
        case introducing
        case talking
        case ended(String)
    }

    /// The most bytes of a line of the introduction.
    private static let lineLimit = 1_024

    private var state = State.introducing
    private var arrived: [UInt8] = []
    private var output: [UInt8]
    /// What is said before the bus knows us waits.
    private var held: [UInt8] = []
    private var lastSerial: UInt32 = 0

    /// - Parameter user: Whose rights the process has: the bus asks the kernel whether that is true.
    package init(user: UInt32) {
        let digits = String(user).utf8.map { "3\($0 - UInt8(ascii: "0"))" }.joined()
        output = [0] + "AUTH EXTERNAL \(digits)\r\n".utf8
    }

    /// Why it is over; `nil` while it is not.
    package var end: String? {
        if case .ended(let reason) = state { reason } else { nil }
    }

    /// What is to be sent, once.
    package mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Sends a message, and numbers it. Returns the number.
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

    /// Takes what came, in whatever pieces. Returns the messages that are whole with it; a malformed one costs only itself.
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

    /// How long the message is that begins there; `nil` where too little has come to tell.
    private mutating func nextCount(from start: Int) -> Int? {
        do throws(WireError) {
            return try DBusMessage.byteCount(of: arrived.span.extracting(start..<arrived.count))
        } catch {
            state = .ended("the bus sent what is no message: \(error)")
            return nil
        }
    }

    private mutating func readLine() {
        guard let end = arrived.firstIndex(of: UInt8(ascii: "\n")) else {
            if arrived.count > Self.lineLimit { finish("the bus does not say whether it knows this user") }
            return
        }
        let line = String(decoding: arrived[..<end], as: UTF8.self)
        arrived.removeFirst(end + 1)
        guard line.hasPrefix("OK ") || line == "OK\r" else {
            return finish("the bus does not know this user: \(line.filter { !$0.isNewline })")
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

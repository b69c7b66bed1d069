internal import CausewayProtocols
internal import CausewayWire

extension Exercise {
    /// Parses bytes as a D-Bus message. Encodes a valid message and parses it again. The result must equal the message.
    ///
    /// - Returns: Whether the message is valid.
    @discardableResult
    public static func busMessage(_ bytes: [UInt8]) -> Bool {
        _ = try? DBusMessage.byteCount(of: bytes.span)
        guard let message = try? DBusMessage(parsing: bytes.span) else { return false }
        // The order of the fields can change, and padding depends on this order. So the encoded message may have
        // another size than the input.
        let written = message.encoded
        guard written.count <= DBusMessage.byteLimit else { return true }
        precondition(
            (try? DBusMessage(parsing: written.span)) == message, "the encoded message is parsed to another value")
        return true
    }

    /// Handles bytes as messages of an authenticated bus, once in one piece and once in two. Checks that both results are equal, and that
    /// the number of requests is bounded.
    ///
    /// - Returns: The number of bytes that were sent to the bus.
    @discardableResult
    public static func interfaceManagers(_ bytes: [UInt8]) -> Int {
        let content = Array("OK 0\r\n".utf8) + bytes
        var whole = InterfaceManagers(user: 0)
        var halves = InterfaceManagers(user: 0)
        whole.receive(content)
        let cut = Int(bytes.first ?? 0) % content.count
        halves.receive(Array(content[..<cut]))
        halves.receive(Array(content[cut...]))
        precondition(whole.facts == halves.facts && (whole.end == nil) == (halves.end == nil), "pieces")
        let sentCount = whole.takeOutput().count
        precondition(sentCount <= 4_096 + 64 * bytes.count, "questions")
        return sentCount
    }

    /// Passes the bytes to a request as replies from the Secret Service. Passes them once as a whole, and once in two
    /// pieces.
    ///
    /// - Returns: Whether the request ended.
    @discardableResult
    public static func secretService(_ bytes: [UInt8]) -> Bool {
        let content = Array("OK 0\r\n".utf8) + bytes
        let cut = Int(bytes.first ?? 0) % content.count
        var isEnded = false
        for operation in [SecretServiceRequest.Operation.read, .write([1])] {
            var whole = SecretServiceRequest(operation, application: "", label: "", user: 0)
            var halves = whole
            whole.receive(content)
            halves.receive(Array(content[..<cut]))
            halves.receive(Array(content[cut...]))
            precondition(whole.outcome == halves.outcome, "pieces")
            precondition(whole.takeOutput().count <= 4_096, "questions")
            isEnded = isEnded || whole.outcome != nil
        }
        return isEnded
    }
}

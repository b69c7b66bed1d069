internal import CausewayProtocols
internal import CausewayWire

extension Exercise {
    /// Bytes as a message of the bus: what can be read is written, and read again as the same.
    public static func busMessage(_ bytes: [UInt8]) {
        _ = try? DBusMessage.byteCount(of: bytes.span)
        guard let message = try? DBusMessage(parsing: bytes.span) else { return }
        // Padding is shorter in one order of fields than in another.
        let written = message.encoded
        guard written.count <= DBusMessage.byteLimit else { return }
        precondition((try? DBusMessage(parsing: written.span)) == message, "what was written")
    }

    /// Bytes as what a bus says after it let us in, in two pieces: the same is known as in one, and a bounded amount is asked.
    public static func interfaceManagers(_ bytes: [UInt8]) {
        let content = Array("OK 0\r\n".utf8) + bytes
        var whole = InterfaceManagers(user: 0)
        var halves = InterfaceManagers(user: 0)
        whole.receive(content)
        let cut = Int(bytes.first ?? 0) % content.count
        halves.receive(Array(content[..<cut]))
        halves.receive(Array(content[cut...]))
        precondition(whole.facts == halves.facts && (whole.end == nil) == (halves.end == nil), "pieces")
        precondition(whole.takeOutput().count <= 4_096 + 64 * bytes.count, "questions")
    }
}

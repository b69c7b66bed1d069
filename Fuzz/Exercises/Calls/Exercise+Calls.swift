extension Exercise {
    /// Runs a whole HTTP/1 connection. The input chooses the role, the peer's bytes and the program's calls.
    ///
    /// The events, and what a peer understands of the output, must not depend on how the input is split. Each exchange
    /// ends once, and so does the connection. No more content is delivered than was received, and nothing happens after
    /// the last event.
    ///
    /// - Returns: The number of events.
    @discardableResult
    public static func http1Calls(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        return switch choices.next(below: 3) {
        case 0: HTTP1ClientCalls.run(choices)
        case 1: HTTP1ServerCalls.run(choices)
        default: ServerConnectionCalls.run(choices)
        }
    }

    /// Runs a whole HTTP/2 connection. The input chooses the role, the peer's frames and the program's calls.
    ///
    /// The properties of ``http1Calls(_:)`` apply. In addition, all output must be valid for a peer that computes the
    /// flow-control windows itself.
    ///
    /// - Returns: The number of events.
    @discardableResult
    public static func http2Calls(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        return switch choices.next(below: 3) {
        case 0: HTTP2Calls.run(choices)
        case 1: HTTP2Calls.run(choices, flag: 0x80)
        default: ServerConnectionCalls.run(choices, flag: 0x80)
        }
    }
}

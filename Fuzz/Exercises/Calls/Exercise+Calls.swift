extension Exercise {
    /// Runs a whole HTTP/1 connection. The input chooses the role, the bytes of the peer and the calls of the program.
    ///
    /// Events, and what a peer understands of the output, must not depend on how the input is split. Every exchange and the connection end
    /// once. No more content is delivered than received, and nothing happens after the last event.
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

    /// Runs a whole HTTP/2 connection. The input chooses the role, the frames of the peer and the calls of the program.
    ///
    /// Besides the properties of ``http1Calls(_:)``, all output must be valid for a peer that keeps its own account of the windows.
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

/// A frame type (RFC 6455 §5.2).
package enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    /// Whether the frame is a control frame. Control frames may occur between a message's fragments and are never
    /// fragmented (RFC 6455 §5.5).
    package var isControl: Bool { rawValue & 0x8 != 0 }
}

/// A frame's type, its first byte. A receiver skips unknown types whose top bit is set, and ends the link at other
/// unknown types.
package enum PeerFrameType: UInt8, Sendable, CaseIterable {
    case hello = 0x01
    case invite = 0x02
    case accept = 0x03
    case decline = 0x04
    case withdraw = 0x05
    case certified = 0x06
    case certificate = 0x07
    case data = 0x08
    case acknowledgment = 0x09
    case streamOpen = 0x10
    case streamData = 0x11
    case streamWindow = 0x12
    case streamEnd = 0x13
    case streamReset = 0x14
    case offer = 0x18
    case get = 0x19
    case part = 0x1A
    case done = 0x1B
    case cancel = 0x1C
    case lane = 0x20
    case udp = 0x21
    case roster = 0x28
    case introduce = 0x29
    case gone = 0x2A
    case ping = 0x30
    case pong = 0x31
    case sasCommit = 0x38
    case sasNonce = 0x39
    case sasReveal = 0x3A
    case sasResult = 0x3B
    case bye = 0x3F

    /// Whether frames with this type are counted, kept until they are acknowledged, and retransmitted after a resumption.
    package var isNumbered: Bool {
        switch self {
        case .data, .streamOpen, .streamData, .streamWindow, .streamEnd, .streamReset, .offer, .get, .done, .cancel,
            .roster,
            .introduce, .gone, .sasCommit, .sasNonce, .sasReveal, .sasResult:
            true
        case .hello, .invite, .accept, .decline, .withdraw, .certified, .certificate, .acknowledgment, .part, .lane,
            .udp, .ping,
            .pong, .bye:
            false
        }
    }
}

/// A frame's second byte.
package struct PeerFrameFlags: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The frame is numbered: both sides count it, and the receiver acknowledges it.
    ///
    /// All frames whose type has ``PeerFrameType/isNumbered`` have this flag, except unreliable `DATA`.
    package static let numbered = PeerFrameFlags(rawValue: 1)
    /// Another fragment follows for this message.
    package static let more = PeerFrameFlags(rawValue: 2)
}

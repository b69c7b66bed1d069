/// A frame: an 8-byte header and a payload.
///
/// ```
///  0        1        2        3        4                          7
/// +--------+--------+--------+--------+--------+--------+--------+--------+
/// |  type  | flags  |     channel     |          payload length           |
/// +--------+--------+--------+--------+--------+--------+--------+--------+
/// ```
package struct PeerFrame: Equatable, Sendable {
    package static let headerByteCount = 8

    package var type: PeerFrameType
    package var flags: PeerFrameFlags
    /// A stream or resource number; 0 for other frames.
    package var channel: UInt16
    package var payload: [UInt8]

    package init(
        _ type: PeerFrameType, flags: PeerFrameFlags = [], channel: UInt16 = 0, payload: [UInt8] = []
    ) {
        (self.type, self.flags, self.channel, self.payload) = (type, flags, channel, payload)
    }

    package init(_ type: PeerFrameType, channel: UInt16 = 0, fields: PeerFields) {
        self.init(type, channel: channel, payload: fields.bytes)
    }

    package var byteCount: Int { Self.headerByteCount + payload.count }

    package func serialize(into output: inout [UInt8]) {
        output.append(type.rawValue)
        output.append(flags.rawValue)
        output += channel.bigEndianBytes
        output += UInt32(truncatingIfNeeded: payload.count).bigEndianBytes
        output += payload
    }

    /// Returns the maximum payload size of a frame type, in bytes. If a frame's header announces a larger payload, the
    /// link ends before the payload is read.
    static func maximumPayload(of type: UInt8) -> Int {
        switch PeerFrameType(rawValue: type) {
        case .hello: PeerLimits.hello
        case .invite: PeerLimits.context + 1024
        case .part: PeerLimits.partPayload + 8
        default: PeerLimits.framePayload
        }
    }
}

/// Splits a link's bytes into frames. The caller takes all complete frames after each ``append(_:)``, so the buffer
/// holds at most one incomplete frame. After a failure the buffer is empty.
package struct PeerFrameReader: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// An unknown type that may not be skipped.
        case unknownType
        /// The payload is larger than its type permits.
        case tooLarge
    }

    private var pending: [UInt8] = []
    private var position = 0
    /// Whether a header was invalid. In that case, the start of the next frame is unknown, so further bytes are
    /// dropped.
    private var hasFailed = false

    package init() {}

    package var bufferedByteCount: Int { pending.count - position }

    /// The type of the next frame, even if that frame is still incomplete. `nil` if no bytes are buffered.
    var nextType: UInt8? { bufferedByteCount > 0 ? pending[position] : nil }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        guard !hasFailed else { return }
        if position > 0 {
            pending.removeFirst(position)
            position = 0
        }
        pending.append(contentsOf: bytes)
    }

    /// Removes and returns the next complete frame; `nil` if more bytes are needed. Skips unknown types whose top bit
    /// is set.
    package mutating func next() throws(Failure) -> PeerFrame? {
        while bufferedByteCount >= PeerFrame.headerByteCount {
            let (type, flags) = (pending[position], pending[position + 1])
            let channel = UInt16(pending[position + 2]) << 8 | UInt16(pending[position + 3])
            let length = Int(pending[(position + 4)..<(position + 8)].bigEndianInteger)
            let kind = PeerFrameType(rawValue: type)
            guard kind != nil || type & 0x80 != 0 else { throw fail(.unknownType) }
            guard length <= PeerFrame.maximumPayload(of: type) else { throw fail(.tooLarge) }
            guard bufferedByteCount >= PeerFrame.headerByteCount + length else { return nil }
            let start = position + PeerFrame.headerByteCount
            position = start + length
            guard let kind else { continue }
            return PeerFrame(
                kind, flags: PeerFrameFlags(rawValue: flags), channel: channel,
                payload: Array(pending[start..<position]))
        }
        return nil
    }

    private mutating func fail(_ failure: Failure) -> Failure {
        (pending, position, hasFailed) = ([], 0, true)
        return failure
    }
}

internal import DequeModule

/// The state of a stream's sending side.
struct OutgoingStream: Sendable {
    /// Queued bytes, at most ``PeerLimits/streamWindow``.
    private var buffer: Deque<[UInt8]> = []
    private var buffered = 0
    private var sent: UInt64 = 0
    private var limit = UInt64(PeerLimits.streamWindow)
    private(set) var isEnding = false
    /// Whether the latest write was accepted only in part, so that the program waits for space.
    private var wantsSpace = false

    var space: Int { isEnding ? 0 : max(0, PeerLimits.streamWindow - buffered) }

    /// Queues bytes. Returns the number accepted.
    mutating func write(_ bytes: [UInt8]) -> Int {
        let count = min(space, bytes.count)
        if count < bytes.count { wantsSpace = true }
        guard count > 0 else { return 0 }
        buffer.append(count == bytes.count ? bytes : Array(bytes.prefix(count)))
        buffered += count
        return count
    }

    mutating func end() { isEnding = true }

    /// Whether the end of the stream can be sent. This is so if the program has ended the stream and all its bytes were
    /// sent.
    var isDrained: Bool { isEnding && buffered == 0 }

    /// The number of content bytes in the stream's next frame; `nil` if no frame can be sent now. A frame contains at
    /// most as many bytes as the peer still accepts.
    var nextSize: Int? {
        let room = limit > sent ? Int(clamping: limit - sent) : 0
        let size = min(buffered, room, PeerLimits.framePayload)
        return size > 0 ? size : nil
    }

    mutating func next() -> [UInt8]? {
        guard let size = nextSize else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < size, let first = buffer.popFirst() {
            let missing = size - bytes.count
            if first.count > missing { buffer.prepend(Array(first.dropFirst(missing))) }
            bytes += first.prefix(missing)
        }
        buffered -= bytes.count
        sent += UInt64(bytes.count)
        return bytes
    }

    /// Sets the total number of stream bytes that the peer accepts. A number below the current one is ignored.
    mutating func limitArrived(_ value: UInt64) { limit = max(limit, value) }

    /// Returns the free space in the buffer if it must be reported to the program; otherwise `nil`. It must be reported
    /// once after a partial write, as soon as half of the buffer is free.
    mutating func spaceToReport() -> Int? {
        guard wantsSpace, space >= PeerLimits.streamWindow / 2 else { return nil }
        wantsSpace = false
        return space
    }
}

/// A stream's receiving side.
struct IncomingStream: Sendable {
    private var received: UInt64 = 0
    private var consumedCount: UInt64 = 0
    private var granted = UInt64(PeerLimits.streamWindow)
    /// Whether the peer has ended or reset the stream, and the program has not released it yet.
    var hasEnded = false

    /// Counts received bytes. Returns whether the peer respects the flow-control window.
    mutating func arrived(_ count: Int) -> Bool {
        received += UInt64(count)
        return received <= granted
    }

    /// Counts bytes that the program has consumed. When a quarter of the flow-control window has become free, returns a
    /// new limit for the sender. Otherwise, and after the end of the stream, the result is `nil`.
    mutating func consumed(_ count: Int) -> UInt64? {
        guard !hasEnded else { return nil }
        consumedCount = min(received, consumedCount + UInt64(max(0, count)))
        let available = consumedCount + UInt64(PeerLimits.streamWindow)
        guard available >= granted + UInt64(PeerLimits.streamWindow) / 4 else { return nil }
        granted = available
        return available
    }
}

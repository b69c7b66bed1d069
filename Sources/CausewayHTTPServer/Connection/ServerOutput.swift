internal import CausewayProtocols
internal import FoundationEssentials

/// Counts the bytes that a connection has passed to its transport and that the transport has not sent. From
/// ``ServerConnection/outputLimit`` bytes on, ``hasRoom`` is `false`.
struct ServerOutput {
    /// Bytes to pass to the transport in one call.
    struct Part {
        var content: Data
        /// The number of bytes that the transport reports as accepted after this part. It includes earlier parts
        /// without a report of their own; `nil` if this part has no report.
        var reportedCount: Int?
    }

    /// The maximum length of a part in bytes. The transport reports how many bytes it has processed. Each report covers
    /// less than twice this length. With larger reports, a client that reads a large response slowly would seem to make
    /// no progress.
    static let partLength = 32 << 10

    /// The number of bytes that were passed to the transport and that the transport has not reported as sent.
    private(set) var pendingCount = 0
    /// Whether the sending direction has ended.
    private var hasEnded = false

    var isPending: Bool { pendingCount > 0 }
    /// Whether the transport takes more bytes.
    var hasRoom: Bool { pendingCount < ServerConnection.outputLimit }

    mutating func passed(_ count: Int) { pendingCount += count }

    mutating func processed(_ count: Int) { pendingCount -= count }

    /// Ends the sending direction. Returns whether this call ended it.
    mutating func end() -> Bool {
        defer { hasEnded = true }
        return !hasEnded
    }

    /// Splits a byte chain into its pieces, and long pieces into parts of at most ``partLength`` bytes.
    static func parts(of bytes: ByteChain) -> [Part] {
        var bytes = bytes
        var parts: [Part] = []
        var unreported = 0
        while let piece = bytes.popPiece(atMost: partLength) {
            unreported += piece.count
            let isReported = unreported >= partLength || bytes.isEmpty
            parts.append(Part(content: Data(piece), reportedCount: isReported ? unreported : nil))
            if isReported { unreported = 0 }
        }
        return parts
    }
}

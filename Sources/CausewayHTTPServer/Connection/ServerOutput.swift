internal import CausewayProtocols
internal import FoundationEssentials

/// Counts the output bytes of a connection that the transport has not sent yet. If the count reaches
/// ``ServerConnection/outputLimit``, ``hasRoom`` becomes `false`.
struct ServerOutput {
    /// The bytes that one call passes to the transport.
    struct Part {
        var content: Data
        /// How many bytes the transport reports as accepted after this part. The number also covers earlier parts that
        /// have no report. `nil` if the transport sends no report after this part.
        var reportedCount: Int?
    }

    /// The maximum length, in bytes, of a part that is passed to the transport. The transport reports how many bytes it
    /// has processed. Each report covers less than twice this length.
    ///
    /// If the reports were larger, a client that reads a large response slowly would seem to make no progress.
    static let partLength = 32 << 10

    /// The number of bytes that were passed to the transport and are not yet reported as sent.
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

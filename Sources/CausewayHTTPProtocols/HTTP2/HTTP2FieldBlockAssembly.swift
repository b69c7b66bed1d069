internal import CausewayWire

/// A field block that has not yet ended with the END_HEADERS flag (RFC 9113 §4.3).
struct HTTP2FieldBlockAssembly: Sendable {
    /// The maximum number of CONTINUATION frames per block. Even large blocks fit into fewer frames.
    static let maximumContinuationCount = 32

    let streamID: HTTP2StreamID
    let endsStream: Bool
    private(set) var block: [UInt8]
    private var continuationCount = 0

    init(_ header: HTTP2FrameHeader, _ frame: HTTP2HeadersFrame) {
        streamID = header.streamID
        endsStream = frame.endsStream
        block = Array(frame.fragment)
    }

    /// Adds a CONTINUATION fragment.
    ///
    /// - Throws: A connection error if the block exceeds `limit` bytes or has too many frames. A stream error is not
    ///   enough: without the whole block, the HPACK state of the connection is lost.
    mutating func append(_ fragment: ArraySlice<UInt8>, limit: Int) throws(HTTP2Violation) {
        continuationCount += 1
        guard continuationCount <= Self.maximumContinuationCount else {
            throw HTTP2Violation(.enhanceYourCalm, "field block in \(continuationCount + 1) frames")
        }
        guard block.count + fragment.count <= limit else {
            throw HTTP2Violation(.enhanceYourCalm, "field block of more than \(limit) bytes")
        }
        block += fragment
    }
}

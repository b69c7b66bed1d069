internal import CCausewayLibraries
internal import CausewayProtocols
internal import FoundationEssentials

/// A decoder from one library. Not `Sendable`: use it from one thread at a time.
final class CodingEngine {
    enum Format {
        case gzip
        case zlib
        case rawDeflate
        case brotli
        case zstd
    }

    struct Step {
        var consumed: Int
        var output: Data
        /// Whether the output filled its buffer, so that the decoder may have more output without more input.
        var isFull: Bool
        /// Whether the decoder reached the end of a gzip member, a zlib or brotli stream, or a zstd frame.
        var hasEnded: Bool
        /// A description of the damage in the input; `nil` if there is none.
        var problem: String?
    }

    private let decoder: OpaquePointer
    /// The memory into which the library writes its output.
    private let room: UnsafeMutableRawBufferPointer

    /// Returns `nil` if the library is not loaded or if memory allocation fails.
    init?(_ format: Format, roomLimit: Int) {
        let number =
            switch format {
            case .gzip: CW_FORMAT_GZIP
            case .zlib: CW_FORMAT_ZLIB
            case .rawDeflate: CW_FORMAT_RAW_DEFLATE
            case .brotli: CW_FORMAT_BROTLI
            case .zstd: CW_FORMAT_ZSTD
            }
        guard let decoder = cw_decoder_new(number) else { return nil }
        self.decoder = decoder
        room = .allocate(byteCount: roomLimit, alignment: 16)
    }

    deinit {
        cw_decoder_free(decoder)
        room.deallocate()
    }

    /// Prepares the decoder for the next gzip member or zstd frame.
    ///
    /// Returns `false` if the format permits only one, or if the library fails.
    func restart() -> Bool { cw_decoder_restart(decoder) }

    /// Decodes the start of `input` into at most `limit` bytes.
    func step(_ input: Data, atMost limit: Int) -> Step {
        var consumed = input.count
        let capacity = max(1, min(limit, room.count))
        var produced = capacity
        let target = room.bindMemory(to: UInt8.self).baseAddress
        let result = input.withUnsafeBytes { bytes in
            cw_decoder_step(
                decoder, bytes.bindMemory(to: UInt8.self).baseAddress, &consumed, target, &produced)
        }
        return Step(
            consumed: consumed, output: Data(UnsafeRawBufferPointer(rebasing: room[..<produced])),
            isFull: produced == capacity, hasEnded: result == CW_DECODING_ENDED,
            problem: result == CW_DECODING_FAILED ? String(cString: cw_decoder_problem(decoder)) : nil)
    }
}

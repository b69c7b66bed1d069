internal import CausewayHTTPProtocols
internal import FoundationEssentials

/// Removes one coding from content.
///
/// - gzip content is one or more members (RFC 1952 §2.2), zstd content one or more frames (RFC 8878 §3). They are decoded one after
///   another.
/// - The coding `deflate` is the zlib format (RFC 9110 §8.4.1.2). Some servers send raw deflate data without the zlib header, so both are
///   decoded.
/// - Empty content decodes to nothing, because some servers name a coding for a response without content.
/// - Trailing data that does not begin another member or frame is ignored, as in browsers.
struct CodingStage {
    enum Progress {
        case content(Data)
        case needsInput
        case ended
    }

    private enum Phase {
        case beginning
        /// The decoder is inside a member, stream or frame.
        case inside(CodingEngine)
        /// The decoder has reached the end of a member or frame.
        case between(CodingEngine)
        case ended
        case failed(DecodingFailure)
    }

    let coding: ContentCoding
    /// The maximum output size in bytes.
    private let pieceLimit: Int
    private var phase = Phase.beginning
    private var input = Data()
    /// Whether the decoder may have output without more input.
    private var mayHaveOutput = false
    /// The number of consumed bytes.
    private(set) var consumedCount = 0

    init(_ coding: ContentCoding, pieceLimit: Int) {
        self.coding = coding
        self.pieceLimit = pieceLimit
    }

    /// Adds input. Call this again only after ``decode(atMost:isLast:)`` has returned `needsInput`.
    mutating func append(_ content: Data) {
        if input.isEmpty { input = content } else { input.append(content) }
    }

    /// Decodes the next piece.
    ///
    /// - Parameter isLast: Whether no input follows.
    mutating func decode(atMost limit: Int, isLast: Bool) throws(DecodingFailure) -> Progress {
        while true {
            switch phase {
            case .beginning:
                guard let format = format(isLast) else { return isLast ? .ended : .needsInput }
                switch isFrame {
                case false: throw fail(.damaged(coding, offset: consumedCount, reason: "no zstd frame"))
                case nil where !isLast: return .needsInput
                default: break
                }
                guard let engine = CodingEngine(format, roomLimit: pieceLimit) else { throw fail(unavailable) }
                phase = .inside(engine)
            case .inside(let engine):
                guard !input.isEmpty || mayHaveOutput else {
                    if isLast { throw fail(.truncated(coding)) }
                    return .needsInput
                }
                let output = step(engine, limit)
                if !output.isEmpty { return .content(output) }
            case .between(let engine):
                guard let continues = anotherFollows(isLast) else { return .needsInput }
                phase = continues && engine.restart() ? .inside(engine) : .ended
            case .ended:
                input = Data()
                return isLast ? .ended : .needsInput
            case .failed(let failure): throw failure
            }
        }
    }

    /// Runs the decoder once and returns its output. If the decoder fails, records the failure, which is thrown after
    /// this output.
    private mutating func step(_ engine: CodingEngine, _ limit: Int) -> Data {
        let hadInput = !input.isEmpty
        let step = engine.step(input, atMost: limit)
        consumedCount += step.consumed
        input = step.consumed == input.count ? Data() : input.dropFirst(step.consumed)
        mayHaveOutput = step.isFull
        if let problem = step.problem {
            phase = .failed(.damaged(coding, offset: consumedCount, reason: problem))
        } else if step.hasEnded {
            mayHaveOutput = false
            phase = .between(engine)
        } else if hadInput, step.consumed == 0, step.output.isEmpty {
            phase = .failed(.damaged(coding, offset: consumedCount, reason: "the decoder makes no progress"))
        }
        return step.output
    }

    private mutating func fail(_ failure: DecodingFailure) -> DecodingFailure {
        phase = .failed(failure)
        return failure
    }

    private var unavailable: DecodingFailure {
        .unavailable(coding, reason: CodingLibrary(coding).problem ?? "out of memory")
    }

    /// Returns the content's format, or `nil` if there is not enough input to determine it.
    private func format(_ isLast: Bool) -> CodingEngine.Format? {
        guard let first = input.first else { return nil }
        switch coding {
        case .gzip: return .gzip
        case .brotli: return .brotli
        case .zstandard: return .zstd
        case .deflate:
            guard let second = input.dropFirst().first else { return isLast ? .rawDeflate : nil }
            // Data in the zlib format has the compression method 8, a window of at most 32 KiB, and a header that is a
            // multiple of 31 (RFC 1950 §2.2). Other data is raw deflate data.
            //
            // Raw deflate data cannot look like a zlib header. With the same four low bits, it would begin with a
            // stored block whose padding bits are not zero.
            let isHeader = first & 0x8f == 8 && (Int(first) << 8 + Int(second)) % 31 == 0
            return isHeader ? .zlib : .rawDeflate
        }
    }

    /// Whether the input begins with a zstd frame in the format of RFC 8878; `nil` if there is not enough input to
    /// determine this. The check is needed because the zstd library also decodes older formats. For other codings, the
    /// value is `true`, because their decoders check the beginning of the input.
    private var isFrame: Bool? {
        guard coding == .zstandard, let first = input.first else { return true }
        let mark = Self.frameMark(first)
        let start = input.prefix(mark.count)
        guard mark.starts(with: start) else { return false }
        return start.count == mark.count ? true : nil
    }

    /// Returns the magic number of a zstd frame whose first byte is `first`. A byte from 0x50 to 0x5f begins a
    /// skippable frame. For any other byte, only a data frame is possible (RFC 8878 §3.1).
    private static func frameMark(_ first: UInt8) -> [UInt8] {
        first & 0xf0 == 0x50 ? [first, 0x2a, 0x4d, 0x18] : [0x28, 0xb5, 0x2f, 0xfd]
    }

    /// Whether the input continues with another member or frame; `nil` if there is not enough input to determine it.
    private func anotherFollows(_ isLast: Bool) -> Bool? {
        switch coding {
        case .deflate, .brotli: return false
        case .gzip: return begins(with: [0x1f, 0x8b], isLast)
        case .zstandard:
            guard let first = input.first else { return isLast ? false : nil }
            return begins(with: Self.frameMark(first), isLast)
        }
    }

    private func begins(with mark: [UInt8], _ isLast: Bool) -> Bool? {
        let start = input.prefix(mark.count)
        guard mark.starts(with: start) else { return false }
        return start.count == mark.count ? true : isLast ? false : nil
    }
}

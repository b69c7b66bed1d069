internal import CausewaySystem
package import CausewayHTTPProtocols
package import CausewayWire
package import FoundationEssentials

/// Removes a message's content codings (RFC 9110 §8.4), on demand.
///
/// The owner adds content as it arrives, and takes decoded chunks until it gets `nil`. Chunks have a limited size, so a small input never
/// becomes megabytes at once. Memory is bounded by the decoders' windows: 32 KiB for gzip and deflate, 16 MiB for brotli, 8 MiB for zstd.
///
/// ```
/// decoder.append(received)
/// while let piece = try decoder.next() { deliver(piece) }
/// ```
///
/// Any thread may call the methods, one at a time.
package final class ContentDecoder: Sendable {
    /// The maximum size of a decoded chunk in bytes.
    package static let pieceLimit = 64 << 10

    fileprivate struct State {
        /// The stages in decoding order.
        var stages: [CodingStage]
        /// The limit on each stage's output. The limits depend on the number of received bytes, not on the stage's own
        /// input.
        var budgets: [DecodingBudget]
        /// For each stage, the number of received bytes that its ``DecodingBudget`` has already counted.
        var counted: [Int]
        var hasInputEnded = false
        var failure: DecodingFailure?
    }

    private let state: LockedValue<State>

    /// Creates a decoder.
    ///
    /// - Parameter codings: The codings in decoding order, as in ``ContentDecoding/decode(_:)``.
    /// - Throws: ``DecodingFailure/unavailable(_:reason:)`` if a library cannot be loaded.
    package init(_ codings: [ContentCoding], budget: DecodingBudget = DecodingBudget()) throws(DecodingFailure) {
        for coding in codings {
            if let problem = CodingLibrary(coding).problem { throw .unavailable(coding, reason: problem) }
        }
        state = LockedValue(
            State(
                stages: codings.map { CodingStage($0, pieceLimit: Self.pieceLimit) },
                budgets: codings.map { _ in budget }, counted: codings.map { _ in 0 }))
    }

    /// Creates a decoder for a message with these header fields. Returns `nil` if the content has no coding or an unknown one.
    ///
    /// - Throws: ``DecodingFailure/unsupported(_:)`` for too many codings, ``DecodingFailure/unavailable(_:reason:)``
    ///   if a library cannot be loaded.
    package static func decoder(
        for fields: FieldSection, budget: DecodingBudget = DecodingBudget()
    ) throws(DecodingFailure) -> ContentDecoder? {
        switch ContentDecoding(fields.values(of: "Content-Encoding"), available: Set(ContentCoding.allCases)) {
        case .identity: return nil
        case .unsupported(let name): throw .unsupported(name)
        case .decode(let codings): return try ContentDecoder(codings, budget: budget)
        }
    }

    // MARK: Libraries

    /// The codings whose libraries can be loaded.
    package static let available = Set(ContentCoding.allCases.filter { CodingLibrary($0).problem == nil })

    /// Returns the `Accept-Encoding` value for the available libraries; `nil` if there are none.
    package static func acceptEncoding(isSecure: Bool) -> String? {
        ContentCoding.acceptField(available: available, isSecure: isSecure)
    }

    // MARK: Content

    /// Adds received content, which is still encoded. Take all decoded chunks first, because content that is not
    /// decoded yet is kept in memory.
    package func append(_ content: Data) {
        state.withLock { state in if !state.hasInputEnded, !content.isEmpty { state.stages[0].append(content) } }
    }

    /// Marks the end of the received content.
    package func end() {
        state.withLock { state in state.hasInputEnded = true }
    }

    /// Decodes the next chunk. Returns `nil` if more content must be added, or if ``end()`` was called and all is
    /// decoded.
    ///
    /// - Throws: The failure. Later calls throw it again.
    package func next(atMost limit: Int = ContentDecoder.pieceLimit) throws(DecodingFailure) -> Data? {
        try state.withLock { state throws(DecodingFailure) in
            if let failure = state.failure { throw failure }
            do throws(DecodingFailure) {
                if case .content(let piece) = try state.pull(state.stages.count - 1, limit) { return piece }
                return nil
            } catch {
                state.failure = error
                throw error
            }
        }
    }
}

extension ContentDecoder.State {
    /// Decodes the next chunk of one coding. Its input is the output of the previous coding.
    fileprivate mutating func pull(_ index: Int, _ limit: Int) throws(DecodingFailure) -> CodingStage.Progress {
        guard index >= 0 else { return hasInputEnded ? .ended : .needsInput }
        var isLast = index == 0 && hasInputEnded
        while true {
            let progress = try stages[index].decode(atMost: limit, isLast: isLast)
            switch progress {
            case .content(let piece):
                try count(piece.count, of: index)
                return progress
            case .ended: return progress
            case .needsInput: if index == 0 || isLast { return progress }
            }
            try count(0, of: index)
            switch try pull(index - 1, ContentDecoder.pieceLimit) {
            case .content(let piece): stages[index].append(piece)
            case .needsInput: return .needsInput
            case .ended: isLast = true
            }
        }
    }

    /// Counts a stage's output in the stage's ``DecodingBudget``. Also counts the bytes received since the previous
    /// call. Throws if the output exceeds a limit.
    private mutating func count(_ produced: Int, of index: Int) throws(DecodingFailure) {
        let received = stages[0].consumedCount
        do throws(DecodingBudget.Excess) {
            try budgets[index].advanced(encoded: received - counted[index], decoded: produced)
        } catch {
            throw .excess(error)
        }
        counted[index] = received
    }
}

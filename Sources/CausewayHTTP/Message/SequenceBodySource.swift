internal import CausewaySystem
internal import CausewayWire
package import FoundationEssentials

/// Sends the elements of an asynchronous sequence as request content.
///
/// A separate task iterates over the sequence, because the response can begin, and `execute` can return, before all content is sent. The
/// task ends with the request.
package final class SequenceBodySource: HTTPBodySource {
    private struct State {
        var isStopped = false
        /// The completion handler of the waiting ``next(_:)`` call. `nil` if no call waits. It is kept until the
        /// sequence produces its next chunk.
        var wanted: (@Sendable (HTTPBodyPiece) -> Void)?
        /// Resumes the iteration when a chunk is requested.
        var producer: CheckedContinuation<Bool, Never>?
        var task: Task<Void, Never>?
    }

    private let state = LockedValue(State())
    private let run: @Sendable (SequenceBodySource) async -> Void

    package init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
        run = { source in
            do {
                var iterator = pieces.makeAsyncIterator()
                while await source.isWanted() {
                    guard let piece = try await iterator.next() else { return source.deliver(.end(FieldSection())) }
                    source.deliver(.content(piece))
                }
            } catch {
                source.deliver(.failure(error))
            }
        }
    }

    package func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void) {
        let producer = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.isStopped else { return nil }
            state.wanted = completion
            if state.task == nil { state.task = Task { [self] in await run(self) } }
            return state.producer.take()
        }
        producer?.resume(returning: true)
    }

    package func stop() {
        let (task, producer, wanted) = state.withLock { state in
            state.isStopped = true
            return (state.task.take(), state.producer.take(), state.wanted.take())
        }
        withExtendedLifetime(wanted) {}
        task?.cancel()
        producer?.resume(returning: false)
    }

    /// Waits until the consumer requests a chunk. Returns `false` after ``stop()``.
    private func isWanted() async -> Bool {
        await withCheckedContinuation { producer in
            let known = state.withLock { state -> Bool? in
                if state.isStopped { return false }
                if state.wanted != nil { return true }
                state.producer = producer
                return nil
            }
            if let known { producer.resume(returning: known) }
        }
    }

    private func deliver(_ piece: HTTPBodyPiece) {
        let wanted = state.withLock { state in state.wanted.take() }
        wanted?(piece)
    }
}

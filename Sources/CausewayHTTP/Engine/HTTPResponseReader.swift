internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayWire
internal import DequeModule
internal import FoundationEssentials

/// Buffers a response for one task, which waits for the head and then for each chunk of content.
final class HTTPResponseReader: HTTPResponseObserver {
    fileprivate enum Waiter {
        case head(UnsafeContinuation<Result<HTTPResponseHead, HTTPFailure>, Never>)
        case piece(UnsafeContinuation<Result<Data?, HTTPFailure>, Never>)
    }

    fileprivate struct State {
        var head: HTTPResponseHead?
        var informational: [HTTPResponseHead] = []
        var pieces = Deque<Data>()
        var result: Result<FieldSection, HTTPFailure>?
        var waiter: Waiter?
    }

    private let state = LockedValue(State())

    // MARK: Events

    func informed(_ head: HTTPResponseHead) { state.withLock { state in state.informational.append(head) } }

    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        let waiter = state.withLock { state in
            state.head = head
            return state.waiter.take()
        }
        if case .head(let continuation) = waiter {
            OffLoopTask.resume { continuation.resume(returning: .success(head)) }
        }
    }

    func received(_ content: Data) {
        let waiter = state.withLock { state in
            state.pieces.append(content)
            return state.waiter.take()
        }
        resume(waiter)
    }

    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        let (waiter, dropped) = state.withLock { state -> (Waiter?, Deque<Data>) in
            state.result = result
            guard case .failure(.cancelled) = result else { return (state.waiter.take(), []) }
            defer { state.pieces = [] }
            return (state.waiter.take(), state.pieces)
        }
        withExtendedLifetime(dropped) {}
        resume(waiter)
    }

    /// Resumes a waiting task with the result for which it waits.
    private func resume(_ waiter: Waiter?) {
        switch waiter {
        case nil: break
        case .head(let continuation):
            guard case .failure(let failure) = state.withLock({ state in state.result }) else { return }
            OffLoopTask.resume { continuation.resume(returning: .failure(failure)) }
        case .piece(let continuation):
            guard let piece = state.withLock({ state in state.takePiece() }) else { return }
            OffLoopTask.resume { continuation.resume(returning: piece) }
        }
    }

    // MARK: Reading

    /// The interim responses so far (RFC 9110 §15.2).
    var informational: [HTTPResponseHead] { state.withLock { state in state.informational } }

    /// The response's trailer fields; `nil` before the reader has taken the whole body.
    var trailers: FieldSection? {
        state.withLock { state in
            guard case .success(let trailers) = state.result, state.pieces.isEmpty else { return nil }
            return trailers
        }
    }

    /// Waits for the final head.
    func awaitHead() async -> Result<HTTPResponseHead, HTTPFailure> {
        await withUnsafeContinuation { continuation in
            let known = state.withLock { state -> Result<HTTPResponseHead, HTTPFailure>? in
                if case .failure(let failure) = state.result { return .failure(failure) }
                if let head = state.head { return .success(head) }
                state.waiter = .head(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Waits for the next chunk of content. Returns `nil` at its end.
    nonisolated(nonsending) func awaitPiece(_ handle: HTTPRequestHandle) async -> Result<Data?, HTTPFailure> {
        let outcome = await withUnsafeContinuation { continuation in
            let known = state.withLock { state -> Result<Data?, HTTPFailure>? in
                if let known = state.takePiece() { return known }
                state.waiter = .piece(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
        if case .success(let piece?) = outcome { handle.took(piece.count) }
        return outcome
    }
}

extension HTTPResponseReader.State {
    /// Removes and returns the next result for the reader; `nil` if the reader has to wait.
    fileprivate mutating func takePiece() -> Result<Data?, HTTPFailure>? {
        if let piece = pieces.popFirst() { return .success(piece) }
        switch result {
        case nil: return nil
        case .success: return .success(nil)
        case .failure(let failure): return .failure(failure)
        }
    }
}

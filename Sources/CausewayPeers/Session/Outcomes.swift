/// Tasks that wait for a peer's answer, or until the peer has left.
final class Outcomes: Sendable {
    enum Question: Hashable, Sendable {
        case membership(PeerIdentity)
        case code(PeerIdentity)
        case verification(PeerIdentity)
        case pairing(PeerIdentity)
    }

    private struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<PeerCode?, any Error>
    }

    private struct State {
        var number: UInt64 = 0
        var waiters: [Question: [Waiter]] = [:]
    }

    private let state = LockedValue(State())

    /// Waits for the answer to a question. `begin` runs when the wait is registered.
    ///
    /// Cancellation: throws `CancellationError`.
    @discardableResult
    func wait(_ question: Question, _ begin: () -> Void = {}) async throws -> PeerCode? {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock {
                    $0.waiters[question, default: []].append(Waiter(number: number, continuation: continuation))
                }
                if Task.isCancelled { return cancel(question, number) }
                begin()
            }
        } onCancel: {
            cancel(question, number)
        }
    }

    private func cancel(_ question: Question, _ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters[question]?.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiters[question]?.remove(at: index)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    /// Gives an answer to a question, and returns whether a task was waiting for it.
    @discardableResult
    func answer(_ question: Question, _ answer: Result<PeerCode?, PeerFailure>) -> Bool {
        self.answer([question], answer)
    }

    /// Answers several questions in one step. After one answer, a task may continue and ask a new question. This call
    /// must not answer the new question.
    @discardableResult
    private func answer(_ questions: [Question], _ answer: Result<PeerCode?, PeerFailure>) -> Bool {
        let waiters = state.withLock { state in
            questions.flatMap { state.waiters.removeValue(forKey: $0) ?? [] }
        }
        for waiter in waiters { waiter.continuation.resume(with: answer.mapError { $0 }) }
        return !waiters.isEmpty
    }

    /// Makes all waits for a lost peer fail, with one exception. If the peer was a member, its key may still be on its
    /// way to the disk. A wait for the pairing with this peer then continues until the key is written.
    func lost(_ peer: PeerIdentity, _ failure: PeerFailure, wasMember: Bool) {
        let ended = [Question.membership(peer), .code(peer), .verification(peer)]
        answer(wasMember ? ended : ended + [.pairing(peer)], .failure(failure))
    }

    /// The session has ended.
    func end(_ failure: PeerFailure) {
        let all = state.withLock { state in
            defer { state.waiters = [:] }
            return state.waiters.values.flatMap { $0 }
        }
        for waiter in all { waiter.continuation.resume(throwing: failure) }
    }
}

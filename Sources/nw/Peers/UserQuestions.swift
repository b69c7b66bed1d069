import Synchronization

/// Asks the user one question at a time, so that an answer always belongs to the question that was printed last.
final class UserQuestions: Sendable {
    private let last = Mutex<Task<Bool, Never>?>(nil)

    /// Runs `question` when all earlier questions have ended. Returns its answer.
    ///
    /// Cancellation: if `question` still waits for earlier questions, it does not run, and the answer is `false`. If
    /// `question` is running, its task is cancelled, and it must end soon.
    func ask(_ question: @escaping @Sendable () async -> Bool) async -> Bool {
        let task = last.withLock { last in
            let earlier = last
            let task = Task {
                _ = await earlier?.value
                guard !Task.isCancelled else { return false }
                return await question()
            }
            last = task
            return task
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

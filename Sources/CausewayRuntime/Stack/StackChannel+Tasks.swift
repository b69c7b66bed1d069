package import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

/// Requests of tasks. As with a flow's, cancelling a task ends the one request that it waits for, and loses nothing.
extension StackChannel {
    /// Receives at least `minimum` and at most `maximum` octets of one message, fewer where it ends first.
    nonisolated(nonsending)
        package func receive(minimum: Int, maximum: Int) async -> ReceivedContent
    {
        let least = max(1, minimum)
        return await receive(least, max(least, maximum), wantsMessage: false)
    }

    /// Receives one whole message.
    nonisolated(nonsending)
        package func receiveMessage() async -> ReceivedContent
    {
        await receive(ReceiveQueue.messageLimit, ReceiveQueue.messageLimit, wantsMessage: true)
    }

    nonisolated(nonsending)
        private func receive(_ minimum: Int, _ maximum: Int, wantsMessage: Bool) async -> ReceivedContent
    {
        let id = Flow.taskID
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                guard !Task.isCancelled else {
                    return continuation.resume(returning: ReceivedContent(error: Failure(errno: Errno.cancelled)))
                }
                enqueue(
                    Waiter(
                        minimum: minimum, maximum: maximum, wantsMessage: wantsMessage,
                        completion: { continuation.resume(returning: $0) }, id: id))
                // The task may have been cancelled before its request was there to be found.
                if Task.isCancelled { cancelReceive(id) }
            }
        } onCancel: {
            cancelReceive(id)
        }
    }

    private func cancelReceive(_ id: UInt64) {
        let completion = state.withLock { state -> ReceiveCompletion? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index).completion
        }
        guard let completion else { return }
        completion(ReceivedContent(error: Failure(errno: Errno.cancelled)))
        // What it had waited for may be enough for the next.
        requestTurn()
    }

    /// Sends a piece of a message; suspends until the transport has taken it. Returns why it did not.
    nonisolated(nonsending)
        package func send(
            _ content: Data, metadata: [any StageMetadata] = [], endsMessage: Bool = true, isFinal: Bool = false
        ) async -> Failure?
    {
        let id = Flow.taskID
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                send(
                    StackMessage(
                        content, metadata: metadata, endsMessage: endsMessage, isFinal: isFinal,
                        waiter: .task(id, continuation)))
                if Task.isCancelled { cancelSend(id) }
            }
        } onCancel: {
            cancelSend(id)
        }
    }

    private func cancelSend(_ id: UInt64) {
        let waiter = state.withLock { state in state.forgetSend(id) }
        waiter?.resume(returning: Failure(errno: Errno.cancelled))
    }
}

extension StackChannel.State {
    /// Finds the send of a cancelled task, unless it has been answered already. What the stack has not taken is taken back.
    fileprivate mutating func forgetSend(_ id: UInt64) -> UnsafeContinuation<Failure?, Never>? {
        for index in messages.indices {
            guard case .task(id, let waiter) = messages[index].waiter else { continue }
            // The last message stays: nothing can be sent behind it any more.
            if messages[index].isFinal { messages[index].waiter = .nobody } else { messages.remove(at: index) }
            return waiter
        }
        for index in taken.indices {
            guard case .task(id, let waiter) = taken[index].waiter else { continue }
            taken[index].waiter = .nobody
            return waiter
        }
        return nil
    }
}

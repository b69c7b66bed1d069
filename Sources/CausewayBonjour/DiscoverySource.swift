internal import Causeway
internal import CausewaySystem
internal import Dispatch

/// An operation that reports events until it is stopped. Both the sequences and the callbacks in ``ServiceDiscovery`` use this type.
struct DiscoverySource<Event: DiscoveryEvent>: Sendable {
    typealias Report = @Sendable (Result<[Event], NWError>) -> Void

    /// Starts the operation and returns a closure that stops it.
    ///
    /// Events that occur together are reported in one call. A failure is the last report: no event follows it.
    let begin: @Sendable (@escaping Report) -> @Sendable () -> Void

    /// Returns the events as a sequence. The operation stops when the sequence is released.
    func sequence() -> AsyncThrowingStream<Event, any Error> {
        let inbox = SequenceInbox<Event>()
        let end = EndOfSequence(begin { [weak inbox] in inbox?.report($0) })
        return AsyncThrowingStream(unfolding: {
            defer { withExtendedLifetime(end) {} }
            return try await inbox.next()
        })
    }

    /// Starts the operation and calls a handler on a queue for each event.
    func calls(
        on queue: DispatchQueue, _ handler: @escaping @Sendable (Result<Event, NWError>, _ moreComing: Bool) -> Void
    ) -> ServiceDiscovery.Operation {
        let inbox = QueueInbox(queue, handler)
        let stop = begin { inbox.report($0) }
        return ServiceDiscovery.Operation {
            inbox.stop()
            stop()
        }
    }
}

/// Stops an operation when its event sequence is released.
private final class EndOfSequence: Sendable {
    private let stop: @Sendable () -> Void

    init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }

    deinit { stop() }
}

/// Buffers events for a task.
private final class SequenceInbox<Event: DiscoveryEvent>: Sendable {
    private struct State: Sendable {
        var pending = PendingEvents<Event>()
        var failure: NWError?
        var waiter: CheckedContinuation<Event?, any Error>?
        var hasEnded = false

        /// Removes and returns the next event. A failure is returned once, after all earlier events.
        mutating func takeOutcome() -> Result<Event?, any Error>? {
            if let (event, _) = pending.take() { return .success(event) }
            guard let failure = failure.take() else { return nil }
            hasEnded = true
            return .failure(failure)
        }
    }

    private let state = LockedValue(State())

    func report(_ result: Result<[Event], NWError>) {
        let resume = state.withLock { state -> (CheckedContinuation<Event?, any Error>, Result<Event?, any Error>)? in
            switch result {
            case .success(let batch): for event in batch { state.pending.add(event) }
            case .failure(let error): state.failure = error
            }
            guard state.waiter != nil, let outcome = state.takeOutcome(), let waiter = state.waiter.take() else {
                return nil
            }
            return (waiter, outcome)
        }
        guard let (waiter, outcome) = resume else { return }
        waiter.resume(with: outcome)
    }

    func next() async throws -> Event? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let outcome = state.withLock { state -> Result<Event?, any Error>? in
                    if let outcome = state.takeOutcome() { return outcome }
                    if state.hasEnded { return .success(nil) }
                    state.waiter = waiter
                    return nil
                }
                if let outcome { waiter.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.hasEnded = true
                return state.waiter.take()
            }
            waiter?.resume(returning: nil)
        }
    }
}

/// Buffers events for a queue. One block on the queue delivers all available events. Each event has a flag that is true
/// if more events follow.
private final class QueueInbox<Event: DiscoveryEvent>: Sendable {
    typealias Handler = @Sendable (Result<Event, NWError>, _ moreComing: Bool) -> Void

    private struct State: Sendable {
        var pending = PendingEvents<Event>()
        var failure: NWError?
        var isScheduled = false
        var hasEnded = false
    }

    private let queue: DispatchQueue
    private let handler: Handler
    private let state = LockedValue(State())

    init(_ queue: DispatchQueue, _ handler: @escaping Handler) {
        self.queue = queue
        self.handler = handler
    }

    func stop() { state.withLock { $0.hasEnded = true } }

    func report(_ result: Result<[Event], NWError>) {
        let isFirst = state.withLock { state in
            switch result {
            case .success(let batch): for event in batch { state.pending.add(event) }
            case .failure(let error): state.failure = error
            }
            defer { state.isScheduled = true }
            return !state.isScheduled && !state.hasEnded
        }
        if isFirst { queue.async { self.tell() } }
    }

    private func tell() {
        while true {
            let next = state.withLock { state -> (Result<Event, NWError>, Bool)? in
                guard !state.hasEnded else { return nil }
                if let (event, moreComing) = state.pending.take() { return (.success(event), moreComing) }
                if let failure = state.failure.take() {
                    state.hasEnded = true
                    return (.failure(failure), false)
                }
                state.isScheduled = false
                return nil
            }
            guard let (result, moreComing) = next else { return }
            handler(result, moreComing)
        }
    }
}

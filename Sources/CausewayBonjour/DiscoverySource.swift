internal import Causeway
internal import CausewaySystem
internal import Dispatch

/// Something that goes on and has news until it is stopped: what sequences and callbacks are made of.
struct DiscoverySource<News: DiscoveryEvent>: Sendable {
    typealias Report = @Sendable (Result<[News], NWError>) -> Void

    /// Begins, and returns what ends it. News that come together are reported together; after a failure nothing follows.
    let begin: @Sendable (@escaping Report) -> @Sendable () -> Void

    /// The news one after the other, until nobody listens any more.
    func sequence() -> AsyncThrowingStream<News, any Error> {
        let inbox = SequenceInbox<News>()
        let end = EndOfSequence(begin { [weak inbox] in inbox?.report($0) })
        return AsyncThrowingStream(unfolding: {
            defer { withExtendedLifetime(end) {} }
            return try await inbox.next()
        })
    }

    /// The news by a handler.
    func calls(
        on queue: DispatchQueue, _ handler: @escaping @Sendable (Result<News, NWError>, _ moreComing: Bool) -> Void
    ) -> ServiceDiscovery.Operation {
        let inbox = QueueInbox(queue, handler)
        let stop = begin { inbox.report($0) }
        return ServiceDiscovery.Operation {
            inbox.stop()
            stop()
        }
    }
}

/// Ends a source when the sequence that takes from it is gone.
private final class EndOfSequence: Sendable {
    private let stop: @Sendable () -> Void

    init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }

    deinit { stop() }
}

/// Where news wait for a task.
private final class SequenceInbox<News: DiscoveryEvent>: Sendable {
    private struct State: Sendable {
        var news = PendingEvents<News>()
        var failure: NWError?
        var waiter: CheckedContinuation<News?, any Error>?
        var hasEnded = false

        /// What is to be told next; a failure once, after everything before it.
        mutating func takeOutcome() -> Result<News?, any Error>? {
            if let (news, _) = news.take() { return .success(news) }
            guard let failure = failure.take() else { return nil }
            hasEnded = true
            return .failure(failure)
        }
    }

    private let state = LockedValue(State())

    func report(_ result: Result<[News], NWError>) {
        let resume = state.withLock { state -> (CheckedContinuation<News?, any Error>, Result<News?, any Error>)? in
            switch result {
            case .success(let batch): for news in batch { state.news.add(news) }
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

    func next() async throws -> News? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let outcome = state.withLock { state -> Result<News?, any Error>? in
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

/// Where news wait for a queue: one block tells all that is there, and says of each whether more follows.
private final class QueueInbox<News: DiscoveryEvent>: Sendable {
    typealias Handler = @Sendable (Result<News, NWError>, _ moreComing: Bool) -> Void

    private struct State: Sendable {
        var news = PendingEvents<News>()
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

    func report(_ result: Result<[News], NWError>) {
        let isFirst = state.withLock { state in
            switch result {
            case .success(let batch): for news in batch { state.news.add(news) }
            case .failure(let error): state.failure = error
            }
            defer { state.isScheduled = true }
            return !state.isScheduled && !state.hasEnded
        }
        if isFirst { queue.async { self.tell() } }
    }

    private func tell() {
        while true {
            let next = state.withLock { state -> (Result<News, NWError>, Bool)? in
                guard !state.hasEnded else { return nil }
                if let (news, moreComing) = state.news.take() { return (.success(news), moreComing) }
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

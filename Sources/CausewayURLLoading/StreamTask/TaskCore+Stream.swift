internal import Causeway
internal import CausewayStreams
internal import Foundation

extension TaskCore {
    /// A stream task's connection; `nil` for other tasks.
    var stream: StreamChannel? {
        if case .stream(let channel) = plan.outlet { channel } else { nil }
    }

    /// The host to authenticate with TLS, and its port.
    var streamHost: (String, UInt16) {
        switch stream?.origin {
        case .endpoint(_, let name, let port): return (name, port)
        case .response, .nowhere, nil:
            let url = state.withLock { $0.currentRequest?.url }
            return (url?.host ?? "", url.flatMap { NWEndpoint.port(of: $0) } ?? 80)
        }
    }

    /// Adds a closure to the end of the task's message queue. The closure does not run if the task is cancelled or
    /// complete.
    func perform(_ body: @escaping @Sendable (TaskCore) -> Void) {
        let mustDrain = state.withLock { state in
            guard !state.life.isOver else { return false }
            return state.mailbox.post(.run { [self] in body(self) })
        }
        if mustDrain { drainLater() }
    }

    /// Connects the stream.
    func startStream(_ channel: StreamChannel) {
        let isWanted = state.withLock { state in
            guard !state.life.isOver, !state.outcome.hasEnded else { return false }
            state.load.loader = channel
            return true
        }
        guard isWanted else { return }
        channel.demandChanged()
        channel.start()
    }

    /// Ends the idle timeout, because the connection is established. From now on, each operation has its own timeout.
    func streamOpened() { state.withLock { state in state.clock.endIdle() } }

    func noteStream(received: Int = 0, sent: Int = 0) {
        state.withLock { state in
            state.counts.received += Int64(received)
            state.counts.sent += Int64(sent)
        }
    }

    /// Ends the task without calling its completion callback. Passes the input and output streams to the delegate.
    func streamCaptured(_ stream: any ByteStream) {
        let (input, output) = Stream.streams(overBytes: stream)
        let streams = Unchecked((input, output))
        let isFirst = state.withLock { state in
            guard !state.outcome.hasEnded else { return false }
            state.outcome.hasEnded = true
            state.clock.end()
            state.load = TaskState.Load()
            return state.life.complete()
        }
        guard isFirst, let task = task as? URLSessionStreamTask else { return }
        notifyStream(.becameStreams) {
            $0.urlSession($1, streamTask: $2, didBecome: streams.value.0, outputStream: streams.value.1)
        }
        calls.add { [self] in
            // Release the streams. If the delegate has not kept them, this also releases the connection.
            withExtendedLifetime(streams) {}
            finishProgress()
            releaseDelegate()
            self.stream?.release()
            session.core.remove(task)
        }
    }

    /// Calls a method on the first delegate that implements it.
    func notifyStream(
        _ method: DelegateMethod,
        _ call: @escaping @Sendable (any URLSessionStreamDelegate, URLSession, URLSessionStreamTask) -> Void
    ) {
        let candidates = delegates.compactMap(\.stream)
        guard !candidates.isEmpty, let task = task as? URLSessionStreamTask else { return }
        calls.add { [session] in
            for delegate in candidates where DelegateProbe.call(delegate, method, { call(delegate, session, task) }) {
                return
            }
        }
    }
}

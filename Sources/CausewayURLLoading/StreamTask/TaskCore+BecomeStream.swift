internal import Causeway
internal import CausewayHTTP
internal import CausewaySystem
internal import Foundation

extension TaskCore {
    /// Converts the data task to a stream task. The stream starts after the response head.
    ///
    /// - Parameter switched: The connection, if the server switched to another protocol. If `nil`, the stream task
    ///   takes over the connection on which the response arrives.
    func becomeStream(_ switched: HTTPUpgradedStream?) {
        if let switched { return becomeStream(over: UpgradedByteStream(switched), unread: Data()) }
        let (loader, response) = state.withLock { state in (state.load.loader, state.content.response) }
        guard let loader = loader as? HTTPLoader, let response = response as? HTTPURLResponse,
            response.endsWithConnection, !loader.hasParts
        else { return failToBecomeStream() }
        let hold = hold()
        loader.handOver { [self] stream in release(hold) { [self] in becomeStream(after: stream) } }
    }

    private func failToBecomeStream() {
        let reason = "only HTTP/1.1 content that ends with its connection, and a switched protocol, can become a stream"
        finish(LoadFailure(.unsupportedURL, details: [LoadFailure.reasonKey: reason]))
    }

    /// Continues after the loader has handed over its connection.
    ///
    /// All earlier events are already in the task's message queue.
    private func becomeStream(after stream: HTTPUpgradedStream?) {
        var (unread, hasEnded) = (Data(), false)
        for case .load(let event, _) in state.withLock({ state in state.mailbox.takeAll() }) {
            switch event {
            case .data(let piece): unread.append(piece)
            case .finished: hasEnded = true
            case .failed(let error): return finish(error)
            default: break
            }
        }
        if let stream {
            becomeStream(over: UpgradedByteStream(stream), unread: unread)
        } else if hasEnded {
            becomeStream(over: EndedByteStream(), unread: unread)
        } else {
            failToBecomeStream()
        }
    }

    private func becomeStream(over stream: any ByteStream, unread: Data) {
        guard let old = task as? URLSessionDataTask else { return stream.close(isInterrupted: true) }
        let (isFirst, request, options, suspensions) = state.withLock {
            state -> (Bool, URLRequest?, TaskState.Options, Int) in
            let (request, options, suspensions) = (state.currentRequest, state.options, state.life.suspensions)
            guard !state.outcome.hasEnded else { return (false, request, options, suspensions) }
            state.outcome.hasEnded = true
            state.clock.end()
            state.load = TaskState.Load()
            state.content = TaskState.Content()
            return (state.life.complete(), request, options, suspensions)
        }
        guard isFirst else { return stream.close(isInterrupted: true) }
        let channel = StreamChannel(.response(stream, unread: unread), session.core.network)
        let core = session.core.makeCore(session, request, TaskPlan(outlet: .stream(channel)))
        core.state.withLock { state in
            state.currentRequest = request
            state.options.takeOver(options)
        }
        channel.attach(core)
        let new = URLSessionStreamTask(core: core)
        // The delegate receives the new task. The task is running, or suspended if the data task is suspended. The
        // delegate may suspend or cancel it. The task connects only after the delegate's method has returned.
        let hold = core.hold()
        new.resume()
        for _ in 0..<suspensions { new.suspend() }
        // The new task is added to the session while its messages are held back. If the session is being cancelled, the
        // cancellation makes the task handle messages again.
        session.core.addContinuing(new)
        let receivers = delegates.compactMap(\.data)
        calls.add { [self] in
            for delegate in receivers {
                let isTaken = DelegateProbe.call(delegate, .becameStream) {
                    delegate.urlSession(session, dataTask: old, didBecome: new)
                }
                if isTaken { break }
            }
            releaseDelegate()
            session.core.remove(old)
            core.release(hold) {}
        }
    }
}

/// A response's connection as a ``ByteStream``.
private struct UpgradedByteStream: ByteStream {
    private let stream: HTTPUpgradedStream

    init(_ stream: HTTPUpgradedStream) { self.stream = stream }

    func receive(atMost limit: Int, _ completion: @escaping @Sendable (ByteArrival) -> Void) {
        stream.receive(atMost: limit) { arrival in
            let isEnd = arrival.isEnd && arrival.error == nil
            completion(ByteArrival(arrival.content ?? Data(), isEnd: isEnd, error: arrival.error))
        }
    }

    func send(_ content: Data, isFinal: Bool, _ completion: @escaping @Sendable (NWError?) -> Void) {
        if isFinal { stream.sendEnd(completion) } else { stream.send(content, completion) }
    }

    func close(isInterrupted: Bool) { stream.close(isInterrupted: isInterrupted) }
}

/// A stream whose peer has closed the connection.
private struct EndedByteStream: ByteStream {
    func receive(atMost limit: Int, _ completion: @escaping @Sendable (ByteArrival) -> Void) {
        completion(ByteArrival(isEnd: true))
    }

    func send(_ content: Data, isFinal: Bool, _ completion: @escaping @Sendable (NWError?) -> Void) {
        completion(.posix(.EPIPE))
    }

    func close(isInterrupted: Bool) {}
}

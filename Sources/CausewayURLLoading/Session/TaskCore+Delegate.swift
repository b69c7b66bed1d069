internal import Causeway
internal import CausewayHTTP
internal import Foundation

extension TaskCore {
    /// The task's delegates in the order in which they are called: its own delegate, then the session's delegate.
    var delegates: [DelegateViews] {
        let own = state.withLock { $0.options.delegate }
        return [own, session.core.delegate].compactMap { $0 }
    }

    /// Whether there is a delegate.
    var hasDelegate: Bool { state.withLock { $0.options.delegate != nil } || session.core.hasDelegate }

    private var taskDelegates: [any URLSessionTaskDelegate] { delegates.compactMap(\.task) }
    private var dataDelegates: [any URLSessionDataDelegate] { delegates.compactMap(\.data) }

    // MARK: Notifications

    /// Calls a method on the first delegate that implements it.
    func notify(
        _ method: DelegateMethod,
        _ call: @escaping @Sendable (any URLSessionTaskDelegate, URLSession, URLSessionTask) -> Void
    ) {
        let candidates = taskDelegates.filter { !DelegateProbe.isKnownToLack($0, method) }
        guard !candidates.isEmpty, let task else { return }
        calls.add { [session] in
            for delegate in candidates where DelegateProbe.call(delegate, method, { call(delegate, session, task) }) {
                return
            }
        }
    }

    /// Delivers content to the delegate, unless the task is cancelled before the callback runs.
    func deliver(_ data: Data) {
        guard let task = task as? URLSessionDataTask else { return took(data.count) }
        let views = delegates
        let (candidates, deferring) = (views.compactMap(\.data), views.first?.deferring)
        calls.add { [self] in
            guard !state.withLock({ $0.life.isOver }) else { return took(data.count) }
            if let deferring { return deferring.receive(data, of: task) { [self] in took(data.count) } }
            for delegate in candidates {
                let isTaken = DelegateProbe.call(delegate, .data) {
                    delegate.urlSession(session, dataTask: task, didReceive: data)
                }
                if isTaken { break }
            }
            took(data.count)
        }
    }

    /// Notifies the delegate of sent content. While the delegate queue is busy, several notifications become one, so
    /// that they do not use more and more memory. When the content is sent again, a new notification begins. Otherwise,
    /// the notification could have more new bytes than total bytes.
    func notifyOfSending(_ count: Int64) {
        let candidates = taskDelegates.filter { !DelegateProbe.isKnownToLack($0, .sentBodyData) }
        guard !candidates.isEmpty, let task else { return }
        let isNew = state.withLock { state in
            let total = state.counts.sent
            guard let last = state.counts.unreportedSent.last, last.total + count == total else {
                state.counts.unreportedSent.append((count, total))
                return true
            }
            state.counts.unreportedSent[state.counts.unreportedSent.count - 1] = (last.count + count, total)
            return false
        }
        guard isNew else { return }
        calls.add { [self] in
            let (sent, expected) = state.withLock { state in
                (state.counts.unreportedSent.removeFirst(), state.counts.expectedToSend)
            }
            for delegate in candidates {
                let isTaken = DelegateProbe.call(delegate, .sentBodyData) {
                    delegate.urlSession(
                        session, task: task, didSendBodyData: sent.count, totalBytesSent: sent.total,
                        totalBytesExpectedToSend: expected)
                }
                if isTaken { return }
            }
        }
    }

    /// Notifies the delegate of bytes written to a download's file. The bytes count as pending until the delegate
    /// returns, so a busy delegate queue pauses the download.
    func notifyOfWriting(_ count: Int, _ total: Int64, _ expected: Int64) {
        guard case .file(nil) = plan.outlet, let task = task as? URLSessionDownloadTask else { return took(count) }
        let candidates = delegates.compactMap(\.download).filter { !DelegateProbe.isKnownToLack($0, .wroteData) }
        guard !candidates.isEmpty else { return took(count) }
        calls.add { [self] in
            for delegate in candidates {
                let isTaken = DelegateProbe.call(delegate, .wroteData) {
                    delegate.urlSession(
                        session, downloadTask: task, didWriteData: Int64(count), totalBytesWritten: total,
                        totalBytesExpectedToWrite: expected)
                }
                if isTaken { break }
            }
            took(count)
        }
    }

    // MARK: Decisions

    /// The delegate's decision on a redirect.
    enum RedirectAnswer: Sendable {
        /// No delegate decides, because no delegate implements the method.
        case unanswered
        /// The request to follow; `nil` to deliver the redirect response.
        case decided(URLRequest?)
    }

    /// Asks the delegates, one after the other. Until one of them has responded, the task handles no messages.
    func ask<Receiver: Sendable, Answer: Sendable>(
        _ question: DelegateQuestion<Receiver, Answer>, _ candidates: [Receiver], fallback: Answer,
        then: @escaping @Sendable (Answer) -> Void
    ) {
        // If no delegate implements the method, continue at once, without a call on the delegate queue.
        guard !question.isKnownToBeUnanswered(by: candidates) else { return then(fallback) }
        let hold = hold()
        calls.add { [self] in
            question.put(to: candidates, fallback: fallback) { [self] answer in
                release(hold) { then(answer) }
            }
        }
    }

    /// Asks the delegate how to continue after the response has arrived.
    ///
    /// - Parameter switched: The connection, if the server switched to another protocol.
    func askForDisposition(_ response: URLResponse, _ switched: HTTPUpgradedStream?) {
        guard let task = task as? URLSessionDataTask else { return }
        let question = DelegateQuestion<any URLSessionDataDelegate, URLSession.ResponseDisposition>(
            method: .response,
            ask: { [session] in
                $0.urlSession(session, dataTask: task, didReceive: response, completionHandler: $1)
            },
            asyncMethod: .responseAsync,
            askAsync: { [session] in await $0.urlSession(session, dataTask: task, didReceive: response) })
        ask(question, dataDelegates, fallback: .allow) { [self] in dispose($0, switched) }
    }

    private func dispose(_ disposition: URLSession.ResponseDisposition, _ switched: HTTPUpgradedStream?) {
        switch disposition {
        case .allow, .becomeDownload:
            guard switched == nil else {
                let reason = "the server switched to another protocol, and the task did not become a stream"
                return finish(LoadFailure(.protocolViolation, details: [LoadFailure.reasonKey: reason]))
            }
            if disposition == .becomeDownload { becomeDownload() }
        case .cancel: finish(LoadFailure(.cancelled))
        case .becomeStream: becomeStream(switched)
        }
    }

    /// Asks the delegate whether to follow a redirect.
    func askAboutRedirect(
        _ response: HTTPURLResponse, _ request: URLRequest, then: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        guard let task else { return }
        let question = DelegateQuestion<any URLSessionTaskDelegate, RedirectAnswer>(
            method: .redirect,
            ask: { [session] delegate, answer in
                delegate.urlSession(
                    session, task: task, willPerformHTTPRedirection: response, newRequest: request,
                    completionHandler: { answer(.decided($0)) })
            },
            asyncMethod: .redirectAsync,
            askAsync: { [session] in
                .decided(
                    await $0.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request))
            })
        ask(question, taskDelegates, fallback: .unanswered, then: then)
    }

    /// Asks the delegate for a body stream that starts at an offset.
    func askForStream(from offset: Int64, then: @escaping @Sendable (Unchecked<InputStream>?) -> Void) {
        guard let task else { return }
        let question = DelegateQuestion<any URLSessionTaskDelegate, Unchecked<InputStream>?>(
            method: offset == 0 ? .needsStream : .needsStreamFrom,
            ask: { [session] delegate, answer in
                let handler: @Sendable (InputStream?) -> Void = { answer($0.map { Unchecked($0) }) }
                if offset == 0 {
                    delegate.urlSession(session, task: task, needNewBodyStream: handler)
                } else {
                    delegate.urlSession(session, task: task, needNewBodyStreamFrom: offset, completionHandler: handler)
                }
            },
            asyncMethod: offset == 0 ? .needsStreamAsync : .needsStreamFromAsync,
            askAsync: { [session] delegate in
                let stream =
                    offset == 0
                    ? await delegate.urlSession(session, needNewBodyStreamForTask: task)
                    : await delegate.urlSession(session, needNewBodyStreamForTask: task, from: offset)
                return stream.map { Unchecked($0) }
            })
        ask(question, taskDelegates, fallback: nil, then: then)
    }

    /// Asks the delegate which response to store in the cache.
    func askAboutCaching(_ proposed: CachedURLResponse, then: @escaping @Sendable (CachedURLResponse?) -> Void) {
        guard let task = task as? URLSessionDataTask else { return then(nil) }
        let question = DelegateQuestion<any URLSessionDataDelegate, CachedURLResponse?>(
            method: .willCache,
            ask: { [session] in
                $0.urlSession(session, dataTask: task, willCacheResponse: proposed, completionHandler: $1)
            },
            asyncMethod: .willCacheAsync,
            askAsync: { [session] in await $0.urlSession(session, dataTask: task, willCacheResponse: proposed) })
        ask(question, dataDelegates, fallback: proposed, then: then)
    }
}

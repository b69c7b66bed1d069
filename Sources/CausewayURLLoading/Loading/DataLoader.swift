internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Loads `data:` URLs and delivers cached responses.
///
/// The whole content is in memory, so it is delivered in one piece.
final class DataLoader: Loader {
    private enum Phase {
        case ready, started, responded
        /// A thread is now reporting the content to the task.
        case delivering
        case ended
    }

    private struct Progress {
        var phase = Phase.ready
        /// The completion that was passed to ``deliver(then:)``. The loader calls it when all content has been
        /// reported.
        var completion: (@Sendable () -> Void)?
    }

    private let attempt: LoadAttempt
    private let response: URLResponse
    private let content: Data
    private let record: TransactionRecord
    private let progress = LockedValue(Progress())

    /// Creates a loader for a cached response.
    init(_ cached: CachedURLResponse, for attempt: LoadAttempt) {
        self.attempt = attempt
        response = cached.response
        content = cached.data
        var record = TransactionRecord(request: attempt.request)
        record.fetchType = .localCache
        self.record = record
    }

    /// Creates a loader for a `data:` URL. Returns `nil` if the URL is not valid.
    init?(dataURL url: URL, for attempt: LoadAttempt) {
        guard let parsed = DataURL(url.absoluteString), let type = MediaType(parsing: parsed.mediaType) else {
            return nil
        }
        self.attempt = attempt
        content = Data(parsed.content)
        // As on Apple platforms, the default media type's charset is not reported.
        let charset = parsed.mediaType == DataURL.defaultMediaType ? nil : type.charset?.lowercased()
        response = URLResponse(
            url: url, mimeType: type.essence, expectedContentLength: parsed.content.count, textEncodingName: charset)
        var record = TransactionRecord(request: attempt.request)
        record.fetchType = .networkLoad
        self.record = record
    }

    func start() {
        guard move(from: .ready, to: .started) else { return }
        attempt.report(.measured(record))
        attempt.report(.response(response, .notAllowed))
        // The response must be reported before its content. So allow the delivery of content only now. From here on,
        // another thread that resumes the task can deliver the content.
        if move(from: .started, to: .responded) { demandChanged() }
    }

    func demandChanged() {
        if attempt.wantsBytes, move(from: .responded, to: .delivering) { reportContent() }
    }

    /// Delivers the content to a data task that becomes a stream task. Does so even if the task wants no content now.
    /// Calls the completion after the content and its end were reported.
    func deliver(then completion: @escaping @Sendable () -> Void) {
        let phase = progress.withLock { progress -> Phase in
            let phase = progress.phase
            switch phase {
            case .started, .responded:
                progress.phase = .delivering
                progress.completion = completion
            // Another thread is reporting the content now. It calls this completion handler afterwards.
            case .delivering: progress.completion = completion
            case .ready, .ended: break
            }
            return phase
        }
        switch phase {
        case .started, .responded: reportContent()
        case .delivering: break
        case .ready, .ended: completion()
        }
    }

    private func reportContent() {
        if !content.isEmpty { attempt.report(.data(content)) }
        attempt.report(.finished)
        let completion = progress.withLock { progress -> (@Sendable () -> Void)? in
            progress.phase = .ended
            return progress.completion.take()
        }
        completion?()
    }

    private func move(from old: Phase, to new: Phase) -> Bool {
        progress.withLock { progress in
            guard progress.phase == old else { return false }
            progress.phase = new
            return true
        }
    }

    func stop() { progress.withLock { $0.phase = .ended } }
}

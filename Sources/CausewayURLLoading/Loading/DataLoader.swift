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
        /// A thread is reporting the content to the task.
        case delivering
        case ended
    }

    private struct Progress {
        var phase = Phase.ready
        /// The completion that ``deliver(then:)`` has stored. The loader calls it after the content was reported.
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
        // Another thread that resumes the task can deliver the content, but the response must be reported first. So
        // allow this only now.
        if move(from: .started, to: .responded) { demandChanged() }
    }

    func demandChanged() {
        if attempt.wantsBytes, move(from: .responded, to: .delivering) { reportContent() }
    }

    /// Delivers the content after the response, because the data task becomes a stream task. So the content is
    /// delivered even if the task wants none now. The completion is called after the content and the end were reported.
    func deliver(then completion: @escaping @Sendable () -> Void) {
        let phase = progress.withLock { progress -> Phase in
            let phase = progress.phase
            switch phase {
            case .started, .responded:
                progress.phase = .delivering
                progress.completion = completion
            // The content is already being reported. The thread that reports it calls this completion afterwards.
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

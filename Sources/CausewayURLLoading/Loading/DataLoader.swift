internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Loads `data:` URLs and delivers cached responses.
///
/// The whole content is in memory, so it is delivered in one piece.
final class DataLoader: Loader {
    private enum Progress {
        case ready, started, responded, ended
    }

    private let attempt: LoadAttempt
    private let response: URLResponse
    private let content: Data
    private let record: TransactionRecord
    private let progress = LockedValue(Progress.ready)

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
        // Only now: another thread that resumes the task must not deliver the content before the response.
        if move(from: .started, to: .responded) { demandChanged() }
    }

    func demandChanged() {
        guard attempt.wantsBytes, move(from: .responded, to: .ended) else { return }
        if !content.isEmpty { attempt.report(.data(content)) }
        attempt.report(.finished)
    }

    private func move(from old: Progress, to new: Progress) -> Bool {
        progress.withLock { progress in
            guard progress == old else { return false }
            progress = new
            return true
        }
    }

    func stop() { progress.withLock { $0 = .ended } }
}

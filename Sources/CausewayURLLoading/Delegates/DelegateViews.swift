internal import Foundation

/// A delegate, cast to each delegate protocol that it conforms to. The casts are slow, so they are done once.
struct DelegateViews: Sendable {
    let session: any URLSessionDelegate
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    let download: (any URLSessionDownloadDelegate)?
    let webSocket: (any URLSessionWebSocketDelegate)?
    let stream: (any URLSessionStreamDelegate)?
    let deferring: (any DeferringDelegate)?

    init?(_ delegate: (any URLSessionDelegate)?) {
        guard let delegate else { return nil }
        session = delegate
        task = delegate as? any URLSessionTaskDelegate
        data = delegate as? any URLSessionDataDelegate
        download = delegate as? any URLSessionDownloadDelegate
        webSocket = delegate as? any URLSessionWebSocketDelegate
        stream = delegate as? any URLSessionStreamDelegate
        // Casts to these two adapter types are fast, because the types are classes.
        if let adapter = delegate as? ConnectionAdapter {
            deferring = adapter
        } else {
            deferring = delegate as? DownloadAdapter
        }
    }
}

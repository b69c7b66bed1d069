import CausewaySystem
import Dispatch
import Synchronization

/// The progress of an upload on a terminal.
enum UploadProgress {
    /// Shows the progress until all content is sent or the request has ended.
    static func show(_ feed: ResponseFeed, of content: RequestContent) {
        guard OpenFile.standardError.kind == .terminal, let (name, count) = facts(of: content) else { return }
        let bar = Mutex(ProgressBar(name, byteCount: count))
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "nw.http.progress"))
        timer.schedule(deadline: .now(), repeating: .milliseconds(100))
        timer.setEventHandler {
            let sent = UInt64(max(0, feed.sentCount))
            bar.withLock { $0.advance(to: sent) }
            guard sent >= count || feed.hasEnded else { return }
            bar.withLock { $0.finish() }
            timer.cancel()
        }
        timer.resume()
    }

    /// Returns the name and the length of content whose length is known before.
    private static func facts(of content: RequestContent) -> (name: String, count: UInt64)? {
        switch content {
        case .none, .data, .standardInput: return nil
        case .form(let form): return ("form", UInt64(form.content.count))
        case .file(let path):
            guard let file = try? OpenFile(reading: path), case .regular(let count) = file.kind else { return nil }
            return (path.split(separator: "/").last.map(String.init) ?? path, count)
        }
    }
}

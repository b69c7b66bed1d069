import CausewaySystem
import Dispatch
import Synchronization

/// The upload progress of one request on a terminal.
final class UploadProgress: Sendable {
    private struct State: ~Copyable {
        var bar: ProgressBar
        /// A timer for redrawing the progress; `nil` after ``end()`` was called.
        var timer: (any DispatchSourceTimer)?
    }

    private let feed: ResponseFeed
    private let state: Mutex<State>

    /// Shows the upload progress until ``end()`` is called. Returns `nil` if there is no terminal, or if the content is
    /// neither a file nor a form.
    init?(_ feed: ResponseFeed, of content: RequestContent) {
        guard StatusLine.isAvailable, let (name, count) = Self.facts(of: content) else { return nil }
        self.feed = feed
        state = Mutex(State(bar: ProgressBar(name, byteCount: count)))
        state.withLock { $0.timer = makeTimer() }
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "nw.http.progress"))
        timer.schedule(deadline: .now(), repeating: .milliseconds(100))
        timer.setEventHandler { [weak self] in self?.advance() }
        timer.resume()
        return timer
    }

    private func advance() {
        state.withLock { state in
            if state.timer != nil { state.bar.advance(to: UInt64(max(0, feed.sentCount))) }
        }
    }

    /// Ends the progress display. Its latest line stays on the terminal, and the response begins below it.
    func end() {
        state.withLock { state in
            guard let timer = state.timer.take() else { return }
            timer.cancel()
            state.bar.advance(to: UInt64(max(0, feed.sentCount)))
            state.bar.finish()
        }
    }

    /// Returns the name and the length of a file or a form; `nil` for other content.
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

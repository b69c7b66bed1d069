internal import Foundation

/// A task's progress. If the program pauses, resumes or cancels this progress or a parent progress, the task is
/// suspended, resumed or cancelled before that call returns.
///
/// `Progress` handlers are not used. They run later, on a concurrent queue, so the handler of a pause could run after
/// the handler of the resumption that follows it. SAFETY: `Progress` is thread-safe, and `target` is set once.
final class TaskProgress: Progress, @unchecked Sendable {
    /// The object that a `Progress` controls. A call such as `pause()` on the progress suspends, resumes or cancels
    /// this object.
    protocol Target: AnyObject, Sendable {
        func suspend()
        func resume()
        func cancel()
    }

    private weak var target: (any Target)?

    /// Creates an indeterminate progress.
    init(of target: any Target) {
        self.target = target
        super.init(parent: nil)
        totalUnitCount = NSURLSessionTransferSizeUnknown
        isCancellable = true
        isPausable = true
    }

    override func pause() {
        super.pause()
        target?.suspend()
    }

    override func resume() {
        super.resume()
        target?.resume()
    }

    override func cancel() {
        super.cancel()
        target?.cancel()
    }
}

internal import Foundation

/// The progress of a task. Pausing, resuming and cancelling it, or a progress above it, acts on the task before the call returns.
///
/// The handlers of `Progress` are not used: it calls them later on a concurrent queue, so that the handler of a pause can run after that of
/// the resumption which followed it.
// SAFETY: `Progress` is thread-safe, and the target is set once.
final class TaskProgress: Progress, @unchecked Sendable {
    /// What a progress acts on.
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

internal import Causeway
internal import CausewayHTTPProtocols
internal import Foundation

/// A message to a task.
enum TaskMessage: Sendable {
    /// The task can start.
    case begin
    /// A loader reports an event.
    case load(LoadEvent, LoadAttempt)
    /// The task ends early.
    case end(LoadFailure)
    /// Run the closure, which continues the task. For example, the program has answered a question.
    case run(@Sendable () -> Void)
}

/// A task's mutable state. Guarded by the lock of ``TaskCore``.
struct TaskState: Sendable {
    /// The task's byte counts.
    struct Counts: Sendable {
        var received: Int64 = 0
        var sent: Int64 = 0
        var expectedToSend: Int64 = 0
        var expectedToReceive: Int64 = NSURLSessionTransferSizeUnknown
        /// Bytes that have arrived but have not been delivered.
        var pending = 0
        /// The reports of sent bytes that wait for the delegate queue, in order. `total` is the total number of sent
        /// bytes to report with the `count` new ones.
        var unreportedSent: [(count: Int64, total: Int64)] = []
    }

    /// Settings that the program can change.
    struct Options: Sendable {
        var priority = URLSessionTask.defaultPriority
        var prefersIncrementalDelivery = true
        var description: String?
        var earliestBeginDate: Date?
        var clientExpectsToSend = NSURLSessionTransferSizeUnknown
        var clientExpectsToReceive = NSURLSessionTransferSizeUnknown
        var delegate: DelegateViews?

        /// Copies the settings of another task whose load this task continues. `prefersIncrementalDelivery` keeps this
        /// task's value.
        mutating func takeOver(_ other: Options) {
            let prefersIncrementalDelivery = prefersIncrementalDelivery
            self = other
            self.prefersIncrementalDelivery = prefersIncrementalDelivery
        }
    }

    /// The current load.
    struct Load: Sendable {
        var attempt: LoadAttempt?
        var loader: (any Loader)?
        var redirectCount = 0
        /// Whether the task has requested the rest of an earlier download, and is still waiting for the response.
        var isResuming = false
        /// Records whether a download was suspended. The server can close the connection during a suspension.
        var interruption = Interruption()
        /// The earlier upload that the first request continues.
        var upload: Boxed<ResumableUpload>?
        var transactions: [TransactionRecord] = []
    }

    /// The state of a download that was suspended. The server can close the connection meanwhile, and the task notices
    /// this only later.
    struct Interruption: Sendable {
        /// Whether the task was suspended since its latest request.
        var wasSuspended = false
        /// Whether the task is waiting to be resumed before it requests the rest of the content.
        var isWaiting = false
        /// The content received before the connection was lost. `nil` unless the task will continue its download with a
        /// range request.
        var resumption: Resumption?
    }

    /// The loaded response and content.
    struct Content: Sendable {
        var response: URLResponse?
        var collected = Data()
        var file: FileSink?
        /// Whether to keep the file after a failure, because the resume data refers to it.
        var keepsFile = false
        /// The content to store in the cache; `nil` if the response is not stored.
        var forCache: Data?
        /// The maximum size of the content for the cache in bytes.
        var cacheLimit = 0
        var cachePolicy = URLCache.StoragePolicy.notAllowed
        /// The request's fields and times, which the cache stores with the response; `nil` if the loader has not
        /// reported that HTTP permits storing the response.
        var exchange: CacheExchange?

        /// Appends content. The first piece, which is often the only one, is not copied.
        mutating func collect(_ data: Data) {
            if collected.isEmpty { collected = data } else { collected.append(data) }
        }

        /// Keeps a piece of content for the cache.
        ///
        /// If the content becomes longer than the cache permits, discards all of it. The first piece is not copied.
        /// Later pieces are appended in place.
        mutating func keepForCache(_ data: Data) {
            guard let count = forCache?.count, !data.isEmpty else { return }
            if count + data.count > cacheLimit {
                forCache = nil
            } else if count == 0 {
                forCache = data
            } else {
                forCache?.append(data)
            }
        }
    }

    /// How the task ended.
    struct Outcome: Sendable {
        var hasEnded = false
        var error: (any Error)?
        /// The handlers for the resume data.
        var resumeHandlers: [@Sendable (Data?) -> Void] = []
    }

    var life = TaskLife()
    var clock: TaskClock
    var currentRequest: URLRequest?
    var counts = Counts()
    var options = Options()
    var load = Load()
    var content = Content()
    var outcome = Outcome()
    var progress: Progress?
    /// All observations of this task that its observers have registered.
    var observations: [any URLSessionTaskObservation] = []
    var mailbox = Mailbox<TaskMessage>()

    /// Whether the undelivered content has reached the buffer limit. The loader then pauses.
    var isFull: Bool { counts.pending >= TaskCore.maximumPending }

    /// The metrics of all transactions. If the task got its delegate only after the start, no transaction was recorded.
    /// The result is then one transaction with the current request and its response.
    var measuredTransactions: [TransactionRecord] {
        guard load.transactions.isEmpty, let currentRequest, let response = content.response else {
            return load.transactions
        }
        var record = TransactionRecord(request: currentRequest)
        record.response = response
        return [record]
    }

    /// When the next timeout expires; `nil` if none is running. The idle timeout does not run while the loader is
    /// paused because the program reads slowly.
    var deadline: Duration? { isFull ? clock.resourceDeadline : clock.deadline }
}

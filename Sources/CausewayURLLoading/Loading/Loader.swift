internal import Causeway
internal import CausewayHTTP
internal import CausewaySystem
internal import Foundation

/// Loads one request for a task.
///
/// A loader reports events to its ``LoadAttempt`` from any thread, without holding a lock, and reports its end exactly once. A task calls
/// its loader's methods from any thread. Each method returns immediately.
protocol Loader: AnyObject, Sendable {
    /// Starts loading. Called once.
    func start()

    /// Called when ``LoadAttempt/wantsBytes`` may have changed. The call can be late or repeated, so the loader must
    /// read the property again.
    ///
    /// While the task wants no bytes, the loader stops reading, and received bytes stay in the kernel's buffer. In this
    /// way, a slow task slows down the sender (back-pressure).
    func demandChanged()

    /// Called when ``LoadAttempt/priority`` has changed.
    func priorityChanged()

    /// Stops loading and releases all resources. Called once, when the load ends or earlier. The loader reports nothing afterwards.
    func stop()
}

extension Loader {
    /// Default implementation: does nothing, because most loaders have no requests to order.
    func priorityChanged() {}
}

/// An event that a loader reports.
enum LoadEvent: Sendable {
    /// The final response head.
    case response(URLResponse, URLCache.StoragePolicy)
    /// The next response may be stored in the cache. Reported directly before ``response(_:_:)``.
    indirect case cacheable(CacheExchange)
    /// Decoded content.
    case data(Data)
    /// The number of body bytes that were handed to the network.
    case sent(Int64)
    /// An informational (1xx) response.
    case informational(HTTPURLResponse)
    /// No network is available, and the session waits for connectivity.
    case waiting
    /// A network is available again, after ``waiting`` was reported.
    case continues
    /// A redirect response. The task decides whether to follow it. If so, the task starts a new loader.
    indirect case redirect(Redirect)
    /// A `URLProtocol` object redirected the request, but reported no HTTP response for the redirect.
    case continuation(URLRequest)
    /// An authentication challenge. The loader continues after `answer` is called.
    indirect case challenge(URLAuthenticationChallenge, answer: ChallengeAnswer)
    /// The loader will send the request content again from an offset. The task sets its number of sent bytes to this
    /// offset.
    case sendsAgain(from: Int64)
    /// The loader must send the request body again from an offset, so it needs a new stream. The loader continues after
    /// `answer` was called.
    case needsStream(from: Int64, answer: @Sendable (Unchecked<InputStream>?) -> Void)
    /// The load's metrics. A loader can omit them. They are reported before the end.
    indirect case measured(TransactionRecord)
    /// The request is sent again. This begins another transaction.
    indirect case begins(TransactionRecord)
    /// The server switched to the WebSocket protocol. The load has ended.
    case upgraded(WebSocketOpening)
    /// The server switched to another protocol requested with `Upgrade`. The load has ended.
    case switched(HTTPURLResponse, HTTPUpgradedStream)
    /// The content is complete.
    case finished
    /// A whole response for a completion handler. After this event, the load has ended.
    ///
    /// If the cache may store the response, the event includes the request's fields and times for the cache.
    indirect case whole(HTTPURLResponse, Data, CacheExchange?)
    case failed(any Error)

    /// Whether the event is ``whole(_:_:_:)``: a response head together with all of its content.
    var isWhole: Bool { if case .whole = self { true } else { false } }

    /// The memory cost of the event while it waits in the task's message queue, in bytes, in addition to its content.
    var waitingCost: Int { if case .response = self { TaskCore.responseCost } else { 0 } }
}

/// A redirect that a loader proposes.
struct Redirect: Sendable {
    /// The next request.
    var request: URLRequest
    var response: HTTPURLResponse
    /// The task's failure if no delegate decides to follow the redirect; `nil` if the redirect is followed by default.
    var refusal: LoadFailure?
    /// A closure that declines the redirect. The loader then delivers the redirect response with its content. `nil` if
    /// the loader has ended.
    var decline: (@Sendable () -> Void)?
}

/// A closure that receives the decision on a challenge.
typealias ChallengeAnswer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

/// One load of a request by one loader. The task ignores events from attempts other than its current one.
final class LoadAttempt: Sendable {
    /// The loader's request.
    let request: URLRequest
    /// Whether a `URLProtocol` class of the program loads the request.
    let isFromProgram: Bool
    private let owner: LockedValue<TaskCore>

    init(request: URLRequest, task: TaskCore, isFromProgram: Bool = false) {
        self.request = request
        self.isFromProgram = isFromProgram
        owner = LockedValue(task)
    }

    /// The task that receives the events. A data task can hand over its attempt to a download task.
    var task: TaskCore { owner.withLock { $0 } }

    /// Hands over this load attempt to another task.
    func move(to task: TaskCore) { owner.withLock { $0 = task } }

    /// Whether the task can take more content from the loader now.
    var wantsBytes: Bool { task.wantsBytes }

    /// The task's priority, which the program can change at any time.
    var priority: Float { task.priority }

    /// Whether the task is running. The loader sends request content only while it is.
    var isRunning: Bool { task.isRunning }

    /// Reports an event to the task. Can be called from any thread.
    func report(_ event: LoadEvent) { task.receive(event, from: self) }
}

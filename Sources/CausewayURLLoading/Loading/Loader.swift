internal import Causeway
internal import Foundation

/// Loads one request for a task.
///
/// A loader reports to its ``LoadAttempt`` from any thread, holds no lock while it does, and reports the end exactly once. A task calls the
/// functions of a loader from any thread; each of them returns at once.
protocol Loader: AnyObject, Sendable {
    /// Begins to load. Called once.
    func start()

    /// Called when ``LoadAttempt/wantsBytes`` may have changed. Calls can be late or repeated, so the loader reads the property again.
    ///
    /// This is how back-pressure reaches the network: a loader that reads only while bytes are wanted leaves them in the kernel.
    func demandChanged()

    /// Releases everything. Called once, at the end or before it. Nothing is reported afterwards.
    func stop()
}

/// What a loader reports.
enum LoadEvent: Sendable {
    /// The head of the final response.
    case response(URLResponse, URLCache.StoragePolicy)
    /// Content, decoded.
    case data(Data)
    /// Body bytes that were handed to the network.
    case sent(Int64)
    /// A response with a status from 100 to 199.
    case informational(HTTPURLResponse)
    /// No network is available, and the session waits for one.
    case waiting
    /// The response redirects; its loader has ended. The task decides and starts another one.
    case redirect(to: URLRequest, HTTPURLResponse)
    /// A response of a `URLProtocol` that is no HTTP redirect and continues elsewhere.
    case continuation(URLRequest)
    /// A question for a credential. The loader goes on after the answer.
    case challenge(URLAuthenticationChallenge, answer: ChallengeAnswer)
    /// The body must be sent again from an offset. The loader goes on after the answer.
    case needsStream(from: Int64, answer: @Sendable (Unchecked<InputStream>?) -> Void)
    /// What was measured. Reported before the end, if at all.
    case measured(TransactionRecord)
    /// The content is complete.
    case finished
    case failed(any Error)
}

/// Takes the answer to a challenge.
typealias ChallengeAnswer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

/// One loader at work for a task. Events of attempts that the task has left are ignored.
final class LoadAttempt: Sendable {
    /// The request as it is loaded.
    let request: URLRequest
    private let owner: OwnerBox

    init(request: URLRequest, task: TaskCore) {
        self.request = request
        owner = OwnerBox(task)
    }

    /// The task that the attempt works for. A data task can pass its attempt on to a download task.
    var task: TaskCore { owner.task }

    /// Passes the attempt on to another task.
    func move(to task: TaskCore) { owner.task = task }

    /// Whether the loader should deliver more content now.
    var wantsBytes: Bool { task.wantsBytes }

    /// Reports an event. May be called from any thread.
    func report(_ event: LoadEvent) { task.receive(event, from: self) }
}

internal import Causeway
internal import Foundation

/// What a task was created for.
struct TaskPlan: Sendable {
    /// Where the content of the request comes from.
    enum Source: Sendable {
        /// From the request.
        case request
        case data(Data)
        case file(URL)
        /// From the delegate.
        case stream
    }

    /// Takes the content and the end of a task.
    typealias DataHandler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    /// Takes the file and the end of a task.
    typealias FileHandler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

    /// Who takes the content of the response.
    enum Outlet: Sendable {
        /// The delegate, piece by piece.
        case delegate
        /// A completion handler, as a whole.
        case handler(DataHandler)
        /// A file, then the delegate or a completion handler.
        case file(FileHandler?)
        /// A sequence of bytes.
        case bytes(ByteChannel)
    }

    var source = Source.request
    var outlet = Outlet.delegate
    /// Set if the task cannot start.
    var failure: LoadFailure?
    /// Whether responses are read from the cache and stored.
    var usesCache: Bool {
        if case .file = outlet { return false }
        return true
    }
}

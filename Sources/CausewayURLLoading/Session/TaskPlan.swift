internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import Foundation

/// What a task does: the source of the body to send, and the destination of the response.
struct TaskPlan: Sendable {
    /// The source of the request body.
    enum Source: Sendable {
        /// The request's body.
        case request
        case data(Data)
        case file(URL)
        /// A form, whose files are read while it is sent.
        case form(MultipartContent)
        /// A stream that the delegate supplies.
        case stream

        /// Whether the content comes from the request itself. If so, the task is not an upload task.
        var isOfRequest: Bool {
            if case .request = self { true } else { false }
        }

        /// A new stream if the content can be read again without asking the program; `nil` for other content.
        var newStream: InputStream? {
            switch self {
            case .file(let url): InputStream(url: url)
            case .form(let content): FormInputStream(content)
            case .request, .data, .stream: nil
            }
        }

        /// Whether the content is in a file.
        var isFile: Bool {
            if case .file = self { true } else { false }
        }
    }

    /// A completion handler that receives the response content.
    typealias DataHandler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    /// A completion handler that receives the URL of the downloaded file.
    typealias FileHandler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

    /// The destination of the response content.
    enum Outlet: Sendable {
        /// The content is delivered to the delegate, in pieces.
        case delegate
        /// The whole content is collected and then passed to a completion handler.
        case handler(DataHandler)
        /// The content is written to a file. The file is then passed to the completion handler. If there is no handler,
        /// it is passed to the delegate.
        case file(FileHandler?)
        /// The content is delivered to an asynchronous sequence of bytes.
        case bytes(ByteChannel)
        /// The task receives WebSocket messages.
        case webSocket(WebSocketChannel)
        /// The task receives the bytes of a connection.
        case stream(StreamChannel)
    }

    var source = Source.request
    var outlet = Outlet.delegate
    /// The reason why the task cannot start; `nil` if the task can start.
    var failure: LoadFailure?
    /// The earlier download to continue.
    var resumption: Resumption?
    /// The task's persistent state; `nil` if no background session stores the task.
    var transfer: BackgroundTransfer?
    /// The earlier upload to continue.
    var upload: Boxed<ResumableUpload>?
    /// Whether the task writes its results to files. This is so for a download, and for a task that a session stores.
    var writesFiles: Bool {
        if case .file = outlet { true } else { transfer != nil }
    }
    /// Whether the task reads responses from the cache and stores them.
    var usesCache: Bool {
        switch outlet {
        case .file, .webSocket, .stream: false
        case .delegate, .handler, .bytes: true
        }
    }
}

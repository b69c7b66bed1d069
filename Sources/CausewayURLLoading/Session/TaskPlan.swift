internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import Foundation

/// The purpose of a task: the body that it sends and the destination of the response.
struct TaskPlan: Sendable {
    /// The source of the request body.
    enum Source: Sendable {
        /// The body of the request.
        case request
        case data(Data)
        case file(URL)
        /// A form, whose files are read while it is sent.
        case form(MultipartContent)
        /// A stream that the delegate supplies.
        case stream

        /// Whether the content is the one of the request, so that the task is no upload task.
        var isOfRequest: Bool {
            if case .request = self { true } else { false }
        }

        /// A new stream of content that can be read any number of times without the program; `nil` for other content.
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

    /// A completion handler that receives the content of the response.
    typealias DataHandler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    /// A completion handler that receives the URL of the downloaded file.
    typealias FileHandler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

    /// Where the content of the response is delivered.
    enum Outlet: Sendable {
        /// To the delegate, in pieces.
        case delegate
        /// To a completion handler, as a whole.
        case handler(DataHandler)
        /// To a file, which is then passed to a completion handler, or to the delegate if there is none.
        case file(FileHandler?)
        /// To an asynchronous sequence of bytes.
        case bytes(ByteChannel)
        /// Messages of a WebSocket.
        case webSocket(WebSocketChannel)
        /// Bytes of a connection.
        case stream(StreamChannel)
    }

    var source = Source.request
    var outlet = Outlet.delegate
    /// The reason why the task cannot start; `nil` if it can start.
    var failure: LoadFailure?
    /// The earlier download that the task continues.
    var resumption: Resumption?
    /// The stored side of the task, in background sessions.
    var transfer: BackgroundTransfer?
    /// The earlier upload that the task continues.
    var upload: Boxed<ResumableUpload>?
    /// Whether the task reads responses from the cache and stores them.
    var usesCache: Bool {
        switch outlet {
        case .file, .webSocket, .stream: false
        case .delegate, .handler, .bytes: true
        }
    }
}

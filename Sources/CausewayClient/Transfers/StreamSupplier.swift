internal import CausewayURLLoading
internal import Foundation

/// A delegate for tasks that send their content as a stream. After a redirect or a challenge, the content may have to
/// be sent again. The delegate then supplies another stream.
final class StreamSupplier: NSObject, URLSessionTaskDelegate {
    private let source: RequestBody.Source

    init(_ source: RequestBody.Source) {
        self.source = source
        super.init()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(source.newStream)
    }
}

extension RequestBody.Source {
    /// A new stream of the content; `nil` if the content is in memory, if there is none, or if it cannot be read.
    var newStream: InputStream? {
        switch self {
        case .none, .data: return nil
        case .file(let url): return InputStream(url: url)
        case .form(let form): return try? form.makeInputStream()
        }
    }
}

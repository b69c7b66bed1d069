internal import CausewaySystem
internal import Dispatch
package import Foundation
@_spi(SwiftCorelibsFoundation) internal import FoundationEssentials

/// Loads a URL for Foundation functions that block until the content is there, such as `Data(contentsOf:)`.
package enum RemoteContent {
    /// The content, and its text encoding name if the response has one.
    package typealias Content = (data: Data, textEncodingName: String?)

    /// The session for the loads of Foundation functions that block. Its delegate queue runs only the completion
    /// handlers of these loads. So a caller that blocks the delegate queue of another session does not delay them. Like
    /// `URLSession.shared`, this session uses registered ``URLProtocol`` classes.
    private static let session = URLSession(
        core: SessionCore(
            URLSessionConfiguration.default.settings, delegate: nil, queue: concurrentQueue, isShared: true))

    private static var concurrentQueue: OperationQueue {
        let queue = OperationQueue()
        queue.name = "causeway.url-contents"
        return queue
    }

    /// Loads a URL's content. Blocks the calling thread until the load has ended.
    ///
    /// - Throws: `CocoaError.fileReadUnknown` with the `URLError` as its underlying error, also for a response with an error status.
    package static func load(_ url: URL) throws -> Content {
        let result = LockedValue<Result<Content, any Error>>(.failure(URLError(.unknown)))
        let done = DispatchSemaphore(value: 0)
        let task = session.dataTask(with: url) { data, response, error in
            result.withLock { $0 = content(of: url, data, response, error) }
            done.signal()
        }
        task.resume()
        done.wait()
        return try result.withLock { $0 }.get()
    }

    private static func content(
        of url: URL, _ data: Data?, _ response: URLResponse?, _ error: (any Error)?
    ) -> Result<Content, any Error> {
        guard let data, let response, error == nil else { return .failure(unreadable(url, error)) }
        if let status = (response as? HTTPURLResponse)?.statusCode, !isContent(status) {
            return .failure(unreadable(url, LoadFailure(.protocolViolation).urlError(for: url)))
        }
        return .success((data, response.textEncodingName))
    }

    /// Returns whether a response with this status has the URL's content as its body. The statuses 401 and 407 are
    /// included, as in the toolchain's FoundationNetworking.
    private static func isContent(_ status: Int) -> Bool {
        (200..<400).contains(status) || status == 401 || status == 407
    }

    private static func unreadable(_ url: URL, _ error: (any Error)?) -> CocoaError {
        CocoaError(.fileReadUnknown, userInfo: [NSURLErrorKey: url, NSUnderlyingErrorKey: error ?? URLError(.unknown)])
    }
}

extension Data {
    /// Replaces the Foundation initializer that `Data(contentsOf:)` calls for URLs that are not file URLs.
    @_dynamicReplacement(for:init(_contentsOfRemote:options:))
    init(causewayContentsOfRemote url: URL, options: Data.ReadingOptions = []) throws {
        self = try RemoteContent.load(url).data
    }
}

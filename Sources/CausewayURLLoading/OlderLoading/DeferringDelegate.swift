internal import Foundation

/// The delegate of a data task that loads for `NSURLConnection` or `NSURLDownload`. It calls the program's delegate
/// later, in a run loop or on a queue.
protocol DeferringDelegate: URLSessionDataDelegate {
    /// Receives content. This method is called in place of the `URLSessionDataDelegate` method for content,
    /// `urlSession(_:dataTask:didReceive:)`.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - task: The task.
    ///   - taken: Call this when the program's delegate receives the content. Until then, the content counts as
    ///     undelivered, so that it does not fill the memory while the run loop is busy. Not called after the end of the
    ///     connection.
    func receive(_ data: Data, of task: URLSessionDataTask, taken: @escaping @Sendable () -> Void)
}

/// A load that asks the program's code.
protocol AskingLoad: AnyObject, Sendable {
    /// Asks something whose answer counts once, and only while the load waits for it.
    ///
    /// - Parameters:
    ///   - ask: Passes the question on. Its argument takes the answer.
    ///   - then: Receives the answer if it counts.
    func ask<Answer>(
        _ ask: (@escaping @Sendable (Answer) -> Void) -> Void, then: @escaping @Sendable (Answer) -> Void)
}

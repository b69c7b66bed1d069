/// A load that waits for answers from the program's code, such as a delegate or a storage subclass.
protocol AskingLoad: AnyObject, Sendable {
    /// Asks the program a question. Only the first answer counts, and only while the load waits for it.
    ///
    /// - Parameters:
    ///   - ask: Passes the question to the program. Its argument is a closure that must be called with the program's
    ///     answer.
    ///   - then: Called with the answer, if the answer counts.
    func ask<Answer>(
        _ ask: (@escaping @Sendable (Answer) -> Void) -> Void, then: @escaping @Sendable (Answer) -> Void)
}

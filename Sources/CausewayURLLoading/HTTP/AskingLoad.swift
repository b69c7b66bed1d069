/// A load that waits for answers of the program's code, for example of a delegate or a storage subclass.
protocol AskingLoad: AnyObject, Sendable {
    /// Asks the program a question. Only the first answer has an effect, and only while the load waits for it.
    ///
    /// - Parameters:
    ///   - ask: Passes the question to the program. It receives a closure, and the program's answer must be passed to
    ///     this closure.
    ///   - then: Called with the answer, unless the answer has no effect.
    func ask<Answer>(
        _ ask: (@escaping @Sendable (Answer) -> Void) -> Void, then: @escaping @Sendable (Answer) -> Void)
}

/// A load that asks the program, for example a delegate or a storage subclass.
protocol AskingLoad: AnyObject, Sendable {
    /// Asks a question. Only the first answer has an effect, and only while the load waits for it.
    ///
    /// - Parameters:
    ///   - ask: Passes the question on. Its argument is a closure that receives the answer.
    ///   - then: Called with the answer, unless the answer has no effect.
    func ask<Answer>(
        _ ask: (@escaping @Sendable (Answer) -> Void) -> Void, then: @escaping @Sendable (Answer) -> Void)
}

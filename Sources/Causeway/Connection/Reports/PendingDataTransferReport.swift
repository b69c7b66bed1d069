internal import CausewaySystem
public import Dispatch

extension NWConnection {
    /// A transfer report that is being made: it began counting when the connection handed it out.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only state is behind a lock.
    public class PendingDataTransferReport: @unchecked Sendable {
        package typealias Completion = @Sendable (_ report: NWConnection.DataTransferReport) -> Void

        private let collector: LockedValue<(@Sendable (DispatchQueue, @escaping Completion) -> Void)?>

        /// - Parameter collector: Ends the interval and calls the completion once, on the queue.
        package init(collector: @escaping @Sendable (DispatchQueue, @escaping Completion) -> Void) {
            self.collector = LockedValue(collector)
        }

        /// Ends the interval and delivers the report. Only the first call has an effect.
        ///
        /// - Parameters:
        ///   - queue: Where to call `completion`.
        ///   - completion: Called once with the report.
        @preconcurrency
        public func collect(
            queue: DispatchQueue,
            completion: @escaping @Sendable (_ report: NWConnection.DataTransferReport) -> Void
        ) {
            let collect = collector.withLock { collector in
                defer { collector = nil }
                return collector
            }
            collect?(queue, completion)
        }
    }
}

internal import CausewaySystem
public import Dispatch

extension NWConnection {
    /// A data transfer report in progress. It counts data transferred after its creation.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only stored property is protected by a lock.
    public class PendingDataTransferReport: @unchecked Sendable {
        package typealias Completion = @Sendable (_ report: NWConnection.DataTransferReport) -> Void

        private let collector: LockedValue<(@Sendable (DispatchQueue, @escaping Completion) -> Void)?>

        /// - Parameter collector: Ends the counting period, creates the report, and passes it to the given completion
        ///   once, on the given queue.
        package init(collector: @escaping @Sendable (DispatchQueue, @escaping Completion) -> Void) {
            self.collector = LockedValue(collector)
        }

        /// Ends the measured period, and delivers the report about it. Later calls have no effect.
        ///
        /// - Parameters:
        ///   - queue: The queue for `completion`.
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

internal import CausewayHTTPProtocols
internal import Foundation

extension HTTPLoader {
    /// The rest of an ended load.
    struct Conclusion {
        var end: Exchange.End
        /// The metrics; `nil` if the task is not measured.
        var record: TransactionRecord?
    }

    /// Begins an exchange's metrics.
    static func newRecord(_ request: URLRequest) -> TransactionRecord {
        var record = TransactionRecord(request: request)
        record.fetchType = .networkLoad
        record.dates.fetchStart = Date()
        return record
    }
}

extension HTTPLoader.State {
    /// Ends the load. Returns what must be released without the lock; `nil` if the event does not end the load.
    mutating func end(
        by event: (inout LoadMachine) -> LoadMachine.Action = { $0.loadEnded() }
    ) -> HTTPLoader.Exchange.End? {
        guard case .end = event(&machine) else { return nil }
        if record?.response != nil { record?.dates.response.end = Date() }
        content = nil
        held = []
        var end = exchange.end()
        if access.bound != nil { end.bound = access.bound.take() }
        return end
    }

    /// Ends the load; `nil` if it had already ended.
    mutating func conclude() -> HTTPLoader.Conclusion? {
        end().map { HTTPLoader.Conclusion(end: $0, record: record) }
    }
}

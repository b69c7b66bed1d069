internal import Foundation

extension HTTPLoader {
    /// Begins an exchange's metrics.
    static func newRecord(_ request: URLRequest) -> TransactionRecord {
        var record = TransactionRecord(request: request)
        record.fetchType = .networkLoad
        record.dates.fetchStart = Date()
        return record
    }
}

extension HTTPLoader.State {
    /// Ends the exchange and the use of connections bound to a credential.
    mutating func endExchange() -> HTTPLoader.Exchange.End {
        var end = exchange.end()
        if access.bound != nil { end.bound = access.bound.take() }
        return end
    }

    /// Returns whether the connection should read more of the response, given whether the task wants content.
    func wantsContent(_ taskWants: Bool) -> Bool {
        switch phase {
        case .waiting: true
        case .holding: held.count < HTTPLoader.heldLimit
        case .deciding, .restarting, .pausing, .confirmed: false
        case .streaming: taskWants && content?.hasBacklog != true
        case .ended: true
        }
    }
}

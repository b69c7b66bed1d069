extension RecordWriter {
    mutating func append(_ operation: StoredOperation) {
        append(operation.id)
        append(operation.lane)
        append(operation.key)
        append(operation.created)
        append(operation.rules.maximumAge)
        append(operation.rules.maximumAttempts)
        append(operation.rules.isIdempotent)
        append(operation.rules.reportsSuccess)
        append(operation.progress.attempts)
        append(operation.progress.isBegun)
        append(operation.progress.stop != nil)
        if let stop = operation.progress.stop { append(stop) }
        append(operation.message)
    }

    private mutating func append(_ message: StoredMessage) {
        append(message.method)
        append(message.target)
        append(message.origin)
        append(UInt32(clamping: message.fields.count))
        for field in message.fields {
            append(field.name)
            append(field.value)
        }
        switch message.body {
        case .none: append(UInt8(0))
        case .inline(let bytes):
            append(UInt8(1))
            append(bytes)
        case .file(let name, let byteCount):
            append(UInt8(2))
            append(name)
            append(byteCount)
        case .reference(let path, let byteCount, let changed):
            append(UInt8(3))
            append(path)
            append(byteCount)
            append(changed)
        }
    }

    mutating func append(_ stop: OfflineStop) {
        switch stop {
        case .refused(let status): append(UInt16(clamping: status))
        case .unknownFate: append(UInt16(0))
        }
    }

    mutating func append(_ report: StoredReport) {
        append(report.id)
        append(report.lane)
        append(report.method)
        append(report.target)
        append(report.key)
        append(report.attempts)
        append(report.ended)
        let (kind, number) = Self.code(of: report.outcome)
        append(kind)
        append(number)
        if case .invalid(let reason) = report.outcome { append(reason) }
    }

    private static func code(of outcome: OfflineOutcome) -> (UInt8, UInt16) {
        switch outcome {
        case .succeeded(let status): (0, UInt16(clamping: status))
        case .conflicted(let status): (1, UInt16(clamping: status))
        case .rejected(let status): (2, UInt16(clamping: status))
        case .expired(let reason): (3, UInt16(reason.rawValue))
        case .unknown: (4, 0)
        case .cancelled(let mayHaveBeenSent): (5, mayHaveBeenSent ? 1 : 0)
        case .invalid: (6, 0)
        }
    }
}

extension RecordReader {
    /// Maximum number of request fields.
    private static let maximumFieldCount = 1_000
    /// Maximum content size in bytes (1 TiB), so that sums over many operations fit in 64 bits.
    private static let maximumSize: Int64 = 1 << 40

    mutating func operation() -> StoredOperation? {
        guard let id = integer(UInt64.self), let lane = text(), let key = text(), let created = integer(Int64.self),
            let maximumAge = integer(Int64.self), let maximumAttempts = integer(UInt32.self),
            let isIdempotent = flag(), let reportsSuccess = flag(), let attempts = integer(UInt32.self),
            let isBegun = flag(), let hasStop = flag()
        else { return nil }
        var progress = StoredOperation.Progress(attempts: attempts, isBegun: isBegun)
        if hasStop {
            guard let reason = stop() else { return nil }
            progress.stop = reason
        }
        guard let message = message(), id > 0, maximumAge >= 0 else { return nil }
        let rules = StoredOperation.Rules(
            maximumAge: maximumAge, maximumAttempts: max(maximumAttempts, 1), isIdempotent: isIdempotent,
            reportsSuccess: reportsSuccess)
        return StoredOperation(
            id: id, lane: lane, message: message, key: key, created: created, rules: rules, progress: progress)
    }

    private mutating func message() -> StoredMessage? {
        guard let method = text(), let target = text(), let origin = text(), let count = integer(UInt32.self),
            count <= Self.maximumFieldCount
        else { return nil }
        var fields: [StoredMessage.Field] = []
        for _ in 0..<count {
            guard let name = text(), let value = text() else { return nil }
            fields.append(StoredMessage.Field(name: name, value: value))
        }
        guard let body = body() else { return nil }
        return StoredMessage(method: method, target: target, origin: origin, fields: fields, body: body)
    }

    private mutating func body() -> StoredMessage.Body? {
        switch integer(UInt8.self) {
        case 0: return StoredMessage.Body.none
        case 1: return bytes().map { .inline($0) }
        case 2:
            guard let name = text(), let count = integer(Int64.self), (0...Self.maximumSize).contains(count),
                !name.utf8.contains(UInt8(ascii: "/"))
            else {
                return nil
            }
            return .file(name: name, byteCount: count)
        case 3:
            guard let path = text(), let count = integer(Int64.self), (0...Self.maximumSize).contains(count),
                let changed = integer(Int64.self)
            else { return nil }
            return .reference(path: path, byteCount: count, changed: changed)
        default: return nil
        }
    }

    mutating func stop() -> OfflineStop? {
        integer(UInt16.self).map { $0 == 0 ? .unknownFate : .refused(status: Int($0)) }
    }

    mutating func report() -> StoredReport? {
        guard let id = integer(UInt64.self), let lane = text(), let method = text(), let target = text(),
            let key = text(), let attempts = integer(UInt32.self), let ended = integer(Int64.self),
            let kind = integer(UInt8.self), let number = integer(UInt16.self), let outcome = outcome(kind, number)
        else { return nil }
        return StoredReport(
            id: id, lane: lane, method: method, target: target, key: key, attempts: attempts, ended: ended,
            outcome: outcome)
    }

    private mutating func outcome(_ kind: UInt8, _ number: UInt16) -> OfflineOutcome? {
        switch kind {
        case 0: .succeeded(status: Int(number))
        case 1: .conflicted(status: Int(number))
        case 2: .rejected(status: Int(number))
        case 3: OfflineOutcome.Expiry(rawValue: UInt8(clamping: number)).map { .expired($0) }
        case 4: .unknown
        case 5: number < 2 ? .cancelled(mayHaveBeenSent: number == 1) : nil
        case 6: text().map { .invalid($0) }
        default: nil
        }
    }
}

internal import CausewayWire

/// The goodbyes for removed records. After the first goodbye, repeats follow for hosts that missed it (RFC 6762 §10.1).
struct Goodbyes: Sendable {
    /// Maximum number of records whose goodbyes are repeated.
    private static let repeatLimit = 256
    /// The number of goodbyes for one record, and the time between them.
    ///
    /// Caches delete a record one second after a goodbye (RFC 6762 §10.1). Some implementations restart this second at
    /// each goodbye. So the time between goodbyes is longer than a second.
    private static let count = 3
    private static let spacing: Duration = .milliseconds(1_300)

    private struct Repeat: Sendable {
        var due: Duration
        var left = Goodbyes.count - 1
        var records: [DNSRecord]
    }

    /// Removed records for which no goodbye was sent yet.
    private var unsent: [DNSRecord] = []
    private var repeats: [Repeat] = []

    /// Whether goodbyes wait that must be sent immediately.
    var hasUnsent: Bool { !unsent.isEmpty }

    var isEmpty: Bool { unsent.isEmpty && repeats.isEmpty }

    /// When the next goodbyes are due.
    var earliestDue: Duration? { unsent.isEmpty ? repeats.lazy.map(\.due).min() : .zero }

    mutating func add(_ records: [DNSRecord]) { unsent += records }

    /// Removes and returns the records that need a first goodbye. Leaves out records that are in `own`, because this
    /// host has registered them again. Schedules no repeats.
    mutating func takeUnsent(besides own: OwnRecords) -> [DNSRecord] {
        defer { unsent = [] }
        return unsent.filter { own.held($0) == nil }
    }

    /// Returns the records that need a first goodbye, and schedules the repeats.
    mutating func takeFirst(besides own: OwnRecords, at now: Duration) -> [DNSRecord] {
        guard !unsent.isEmpty else { return [] }
        let records = takeUnsent(besides: own)
        if records.count <= Self.repeatLimit, !records.isEmpty {
            repeats.append(Repeat(due: now + Self.spacing, records: records))
        }
        return records
    }

    /// Returns the records whose repeated goodbye is due.
    mutating func takeRepeated(at now: Duration) -> [DNSRecord] {
        var due: [DNSRecord] = []
        for index in repeats.indices where repeats[index].due <= now {
            due += repeats[index].records
            repeats[index].left -= 1
            repeats[index].due = now + Self.spacing
        }
        repeats.removeAll { $0.left == 0 }
        return due
    }

    mutating func cancelRepeats() { repeats = [] }
}

/// Statistics about one DNS server. The statistics determine the query order and the time to wait for a response.
struct ServerHealth: Sendable {
    /// How long to wait for a server that has never answered, before the next server is queried.
    static let firstPatience: Duration = .seconds(1)
    static let minimumPatience: Duration = .milliseconds(200)
    /// If a server has not answered a query, then for this time it is queried only after all other servers. The time
    /// doubles with each missing answer, up to the maximum.
    static let firstShunning: Duration = .seconds(5)
    static let longestShunning: Duration = .seconds(160)

    private var failures = 0
    private var shunnedUntil: Duration?
    private var smoothedTime: Duration?
    private var variation: Duration = .zero
    /// How long queries to a server are sent without EDNS(0) after the server has dropped a query with EDNS(0).
    static let extensionPause: Duration = .seconds(600)

    /// Whether the server rejects queries with EDNS(0) as malformed (RFC 6891 §7).
    private var lacksExtensions = false
    /// Whether the server has answered a query with EDNS(0).
    private(set) var answersExtensions = false
    private var dropsExtensionsUntil: Duration?
    /// Whether the server changes the queried name's case in its responses.
    private var changesCase = false
    private(set) var answersStreams = false

    /// Whether to send names without random upper and lower case.
    ///
    /// This is necessary if the server changes the case in its responses and has never answered over TCP. Without TCP,
    /// the client cannot check a response whose case differs.
    var needsPlainCase: Bool { changesCase && !answersStreams }

    func refusesExtensions(at now: Duration) -> Bool {
        lacksExtensions || dropsExtensionsUntil.map { $0 > now } ?? false
    }

    /// Whether the server may be one that drops queries with EDNS(0).
    func mayDropExtensions(at now: Duration) -> Bool { !answersExtensions && !refusesExtensions(at: now) }

    mutating func answeredExtensions() { answersExtensions = true }

    mutating func rejectedExtensions() { lacksExtensions = true }

    mutating func droppedExtensions(at now: Duration) { dropsExtensionsUntil = now + Self.extensionPause }

    mutating func changedCase() { changesCase = true }

    func isShunned(at now: Duration) -> Bool { shunnedUntil.map { $0 > now } ?? false }

    /// Returns how long to wait for this server before the next server is queried.
    func patience(atMost limit: Duration, round: Int) -> Duration {
        var patience = smoothedTime.map { max(Self.minimumPatience, $0 + variation * 4) } ?? Self.firstPatience
        // Query the next server sooner if this server did not answer the latest query.
        if failures > 0 { patience = min(patience, Self.minimumPatience * 2) }
        return min(limit, patience * (1 << min(round, 4)))
    }

    /// Updates the smoothed round-trip time (RFC 6298 §2).
    mutating func answered(after time: Duration, over carrier: DNSCarrier) {
        failures = 0
        shunnedUntil = nil
        // Do not use the response time over TCP, because it includes the connection setup.
        guard carrier == .udp else {
            answersStreams = true
            return
        }
        if let smoothed = smoothedTime {
            let difference = smoothed > time ? smoothed - time : time - smoothed
            variation = variation * 3 / 4 + difference / 4
            smoothedTime = smoothed * 7 / 8 + time / 8
        } else {
            smoothedTime = time
            variation = time / 2
        }
    }

    mutating func wasSilent(at now: Duration) {
        failures = min(failures + 1, 16)
        shunnedUntil = now + min(Self.firstShunning * (1 << min(failures - 1, 8)), Self.longestShunning)
    }
}

/// How well one server has answered lately, and so when it is asked and how long it is waited for.
struct ServerHealth: Sendable {
    /// How long the first answer of a server is waited for before the next server is asked as well.
    static let firstPatience: Duration = .seconds(1)
    static let minimumPatience: Duration = .milliseconds(200)
    /// How long a server that said nothing is asked last; doubled each time, up to the longest.
    static let firstShunning: Duration = .seconds(5)
    static let longestShunning: Duration = .seconds(160)

    private var failures = 0
    private var shunnedUntil: Duration?
    private var smoothedTime: Duration?
    private var variation: Duration = .zero
    /// How long a server that dropped a question with EDNS(0) is asked without.
    static let extensionPause: Duration = .seconds(600)

    /// It took a question with EDNS(0) for a mistake (RFC 6891 §7).
    var lacksExtensions = false
    /// It has answered a question with EDNS(0).
    var answersExtensions = false
    private var dropsExtensionsUntil: Duration?
    /// It does not repeat the case of a question's name.
    var changesCase = false
    var answersStreams = false

    /// The case of names proves nothing about its answers, and there is no TCP to prove them.
    var needsPlainCase: Bool { changesCase && !answersStreams }

    func refusesExtensions(at now: Duration) -> Bool {
        lacksExtensions || dropsExtensionsUntil.map { $0 > now } ?? false
    }

    /// Whether silence may be for EDNS(0) alone.
    func mayDropExtensions(at now: Duration) -> Bool { !answersExtensions && !refusesExtensions(at: now) }

    mutating func droppedExtensions(at now: Duration) { dropsExtensionsUntil = now + Self.extensionPause }

    func isShunned(at now: Duration) -> Bool { shunnedUntil.map { $0 > now } ?? false }

    /// How long to wait before somebody else is asked.
    func patience(atMost limit: Duration, round: Int) -> Duration {
        var patience = smoothedTime.map { max(Self.minimumPatience, $0 + variation * 4) } ?? Self.firstPatience
        // It has been silent before: no second chance at full price.
        if failures > 0 { patience = min(patience, Self.minimumPatience * 2) }
        return min(limit, patience * (1 << min(round, 4)))
    }

    /// RFC 6298 §2.
    mutating func answered(after time: Duration?) {
        failures = 0
        shunnedUntil = nil
        guard let time else { return }
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

/// Decides when a socket is read to which many datagrams come, so that each wake-up of its thread brings many of them.
///
/// A wake-up costs as much as receiving ten datagrams and more. Where datagrams come one by one and close together, as from a host
/// whose network card does not coalesce them, the socket is left alone for a fraction of a millisecond after the first. That is done
/// only while nothing is sent: a peer that waits for an answer must not wait for a pause.
package struct ArrivalPace: Sendable {
    package enum Step: Equatable, Sendable {
        case read
        /// Do not listen for arrivals, and read after this time.
        case wait(Duration)
        /// Listen for the next arrival.
        case listen
    }

    /// A read of fewer datagrams was not worth its wake-up.
    private static let fewDatagrams = 64
    /// A pause that brings fewer shows that waiting is useless.
    private static let uselessDatagrams = 4
    /// A pause that brings as many is followed by the next one, without listening in between; one that brings fewer than twice as many
    /// by a longer one.
    private static let manyDatagrams = 64
    /// Reads that are further apart belong to no stream.
    private static let longestGap = Duration.microseconds(500)
    private static let pauses = (shortest: Duration.microseconds(100), longest: Duration.microseconds(500))
    /// Reads of few datagrams in a row before the first pause.
    private static let patience = 16

    private var score = 0
    private var pause = Self.pauses.shortest
    private var isPausing = false
    private var lastRead: Duration?

    package init() {}

    /// Something has arrived.
    package mutating func arrived(at now: Duration) -> Step {
        guard score >= Self.patience else { return .read }
        if let lastRead, now - lastRead < pause { lengthenPause() } else { pause = Self.pauses.shortest }
        isPausing = true
        return .wait(pause)
    }

    /// All waiting datagrams have been read: their number.
    package mutating func wasRead(_ count: Int, at now: Duration) -> Step {
        defer { lastRead = now }
        guard isPausing else {
            let isClose = lastRead.map { now - $0 < Self.longestGap } ?? false
            score = isClose && count < Self.fewDatagrams ? min(score + 1, Self.patience) : max(score - 1, 0)
            return .listen
        }
        if score >= Self.patience, count >= Self.manyDatagrams {
            if count < 2 * Self.manyDatagrams { lengthenPause() }
            return .wait(pause)
        }
        isPausing = false
        if count < Self.uselessDatagrams { score = max(score - Self.uselessDatagrams, 0) }
        return .listen
    }

    /// A datagram was sent over the socket.
    package mutating func sent() { score = 0 }

    private mutating func lengthenPause() { pause = min(pause * 2, Self.pauses.longest) }
}

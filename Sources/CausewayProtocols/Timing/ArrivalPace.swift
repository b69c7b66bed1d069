internal import CausewayTypes

/// Decides when to read a socket that receives many datagrams, so that each wake-up of the thread handles several
/// datagrams.
///
/// A wake-up costs at least as much as ten receive calls. Datagrams may arrive one by one at short intervals, for
/// example because the sender's network card does not coalesce them. The socket is then not read at once, but a
/// fraction of a millisecond after the first arrival.
///
/// After a datagram was sent over the socket, arriving datagrams are again read at once. Otherwise this delay would
/// slow down peers that exchange requests and replies over the socket.
package struct ArrivalPace: Sendable {
    package enum Step: Equatable, Sendable {
        case read
        /// Do not poll the socket. Read from it again after this pause.
        case wait(Duration)
        /// Wait until the socket reports the next arrival.
        case listen
    }

    /// If a read returns fewer datagrams than this number, it was not worth the cost of a wake-up.
    private static let fewDatagrams = 64
    /// The minimum number of datagrams that make a pause in reading useful. If fewer arrive during the pause, it was
    /// useless.
    private static let uselessDatagrams = 4
    /// A pause in reading counts as successful if at least this many datagrams arrive during it. The next pause then
    /// follows at once, without a poll of the socket. If fewer than twice this number arrive, the next pause is longer.
    private static let manyDatagrams = 64
    /// The maximum time between two reads that count as consecutive.
    private static let longestGap = Duration.microseconds(500)
    private static let pauses = (shortest: Duration.microseconds(100), longest: Duration.microseconds(500))
    /// The number of consecutive small reads after which pauses begin.
    private static let patience = 16

    private var score = 0
    private var pause = Self.pauses.shortest
    private var isPausing = false
    private var lastRead: Duration?

    package init() {}

    /// Reports that the socket is readable.
    package mutating func arrived(at now: Duration) -> Step {
        guard score >= Self.patience else { return .read }
        if let lastRead, now - lastRead < pause { lengthenPause() } else { pause = Self.pauses.shortest }
        isPausing = true
        return .wait(pause)
    }

    /// Reports that all pending datagrams were read. `count` is their number.
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

    /// Records that a datagram was sent over the socket.
    package mutating func sent() { score = 0 }

    private mutating func lengthenPause() { pause = min(pause * 2, Self.pauses.longest) }
}

extension ArrivalPace: UntimedMachine {
    package typealias Action = Step

    package var hasEnded: Bool { false }
}

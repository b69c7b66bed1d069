/// Whether the event loop reports to a stream that content has arrived.
///
/// An edge-triggered event loop reports each packet. While the program's queue reads continuously, these reports carry
/// no new information. They still cost processor time: a reader of a stream at full speed would need 50 % more.
struct ArrivalReports: Sendable {
    private enum Interest: UInt8, Sendable {
        case all
        /// The flow is about to turn off the arrival reports of the loop.
        case muting
        /// The flow is about to turn the loop's arrival reports off, but the reader needs them again. After turning
        /// them off, the flow immediately turns them on again.
        case mutingInVain
        case nothing
    }

    /// The number of consecutive redundant reports after which the flow turns arrival reports off. A report is
    /// redundant if a read is already active or scheduled.
    static var redundantLimit: UInt8 { 2 }

    private var interest = Interest.all
    /// How many arrival reports came too early, that is, while a read was running or scheduled. When a read has emptied
    /// the transport, the count returns to 0.
    private var redundantCount: UInt8 = 0

    var areOff: Bool { interest == .nothing }

    /// Records an arrival report that was not needed, because a read was active or scheduled. Returns `true` if the
    /// caller must turn off the reports.
    mutating func wasRedundant() -> Bool {
        guard interest == .all else { return false }
        redundantCount &+= 1
        guard redundantCount >= Self.redundantLimit else { return false }
        interest = .muting
        return true
    }

    /// Records that the flow has turned off the loop's arrival reports.
    ///
    /// Returns whether the caller must turn these reports on again at once.
    mutating func turnedOff() -> Bool {
        let isInVain = interest == .mutingInVain
        if interest == .muting { interest = .nothing }
        if isInVain { interest = .all }
        return isInVain
    }

    /// Records that a read has emptied the transport. Returns `true` if arrival reports were off. The caller must then
    /// turn the reports on again.
    mutating func wasReadOut() -> Bool {
        redundantCount = 0
        let wereOff = interest == .nothing
        if wereOff { interest = .all }
        if interest == .muting { interest = .mutingInVain }
        return wereOff
    }
}

/// Whether the event loop reports to a stream that content has arrived.
///
/// An edge-triggered event loop reports each packet. While the program's queue reads continuously, these reports carry
/// no new information, but they cost processor time: a reader of a stream at full speed would need 50 % more processor
/// time.
struct ArrivalReports: Sendable {
    private enum Interest: UInt8, Sendable {
        case all
        /// The flow is about to turn the loop's arrival reports off.
        case muting
        /// The flow is about to turn the loop's arrival reports off, but the reader already needs them again. The flow
        /// turns the reports off and immediately on again.
        case mutingInVain
        case nothing
    }

    /// If this many consecutive arrival reports come while a read is active or scheduled, the flow turns the reports
    /// off.
    static var redundantLimit: UInt8 { 2 }

    private var interest = Interest.all
    /// The number of arrival reports that came while a read was active or scheduled. The count restarts when a read has
    /// emptied the transport.
    private var redundantCount: UInt8 = 0

    var areOff: Bool { interest == .nothing }

    /// Records a report that came while a read was active or scheduled. Returns whether to turn the reports off.
    mutating func wasRedundant() -> Bool {
        guard interest == .all else { return false }
        redundantCount &+= 1
        guard redundantCount >= Self.redundantLimit else { return false }
        interest = .muting
        return true
    }

    /// Records that the flow has turned the loop's arrival reports off. Returns whether the caller must turn them on
    /// again at once.
    mutating func turnedOff() -> Bool {
        let isInVain = interest == .mutingInVain
        if interest == .muting { interest = .nothing }
        if isInVain { interest = .all }
        return isInVain
    }

    /// Records that all content was read. Returns whether reports were off; the caller must then turn them on again.
    mutating func wasReadOut() -> Bool {
        redundantCount = 0
        let wereOff = interest == .nothing
        if wereOff { interest = .all }
        if interest == .muting { interest = .mutingInVain }
        return wereOff
    }
}

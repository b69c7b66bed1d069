/// The order of a scan's probes: first the probes to repeat, then one port after another. Each port is probed on all
/// hosts before the next port, which spreads the load.
struct ProbeOrder: Sendable {
    /// The index from which probes may still be unsent. All probes with a smaller index have been sent.
    private var unasked: UInt32 = 0
    /// Unanswered probes to repeat. The first `againTaken` probes need no repetition any more.
    private var again: [UInt32] = []
    private var againTaken = 0

    /// Adds a probe that is to be sent again.
    mutating func add(_ id: UInt32, in table: ProbeTable) {
        if table.reason(Int(id)) == .notAsked {
            unasked = min(unasked, id)
        } else {
            again.append(id)
        }
    }

    /// Returns the index of the next probe to send; `nil` if there is none now.
    mutating func next(in table: ProbeTable) -> UInt32? {
        while againTaken < again.count {
            if table.reason(Int(again[againTaken])) == .waitingAgain { return again[againTaken] }
            againTaken += 1
        }
        if !again.isEmpty {
            again.removeAll(keepingCapacity: true)
            againTaken = 0
        }
        while unasked < table.count, table.reason(Int(unasked)) != .notAsked { unasked += 1 }
        return unasked < table.count ? unasked : nil
    }
}

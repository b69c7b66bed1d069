/// The order in which a scan sends its probes. The probes to repeat come first, and then one port after another.
///
/// Each port is probed on all hosts before the next port. This spreads the load.
struct ProbeOrder: Sendable {
    /// The index of the first probe that may not have been sent yet. All probes with a smaller index were sent.
    private var unasked: UInt32 = 0
    /// Probes that must be sent again, because they got no answer. `againTaken` counts the elements at the start that
    /// were already handled.
    private var again: [UInt32] = []
    private var againTaken = 0

    /// Adds a probe that must be sent again.
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

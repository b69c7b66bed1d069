internal import CausewaySystem

// An edge-triggered event loop reports each packet. While a delivery queue of the program reads continuously, these reports carry no new
// information, and each one takes processor time from the reader: a stream at full speed would cost 50 % more.

extension Flow {
    /// The arrival reports that a stream wants from its loop.
    enum ArrivalInterest: UInt8, Sendable {
        case all
        /// The flow is about to ask the loop to stop reporting.
        case muting
        /// As `muting`, but the reader already needs reports again.
        case mutingInVain
        case nothing
    }

    /// The number of consecutive reports during a read after which reports are muted.
    static var redundantEventLimit: UInt8 { 2 }

    /// Asks the loop to report no arrivals until the reader has read everything. Called on the loop's thread.
    func mute(_ transport: Transport) {
        guard case .socket(let fd, let registration) = transport else { return }
        loop.update(registration, fd, for: Readiness.stream.subtracting(.readable))
        if state.withLock({ state in state.settleMuting() }) { loop.update(registration, fd, for: .stream) }
    }

    /// Asks the loop to report arrivals again after the reader has read everything.
    ///
    /// - Parameter isMuted: The result of ``State/takeMuting()``.
    func awaitArrival(_ transport: Transport, isMuted: Bool) {
        guard case .socket(let fd, let registration) = transport else { return }
        // The loop reports bytes that arrived in the meantime at once.
        if isMuted { loop.update(registration, fd, for: .stream) }
        loop.await(.readable, of: registration)
    }
}

extension Flow.State {
    /// Records an arrival report. Returns whether to mute further reports because a reader is always active.
    mutating func noteReport(_ readiness: Readiness) -> Bool {
        guard isReading || isReadPosted, arrivalInterest == .all, kind == .stream, phase == .open, closing == nil,
            readiness.touches(.readable), !readiness.touches(.ending), !readiness.touches(.failed)
        else { return false }
        redundantEvents &+= 1
        guard redundantEvents >= Flow.redundantEventLimit else { return false }
        arrivalInterest = .muting
        return true
    }

    /// Records that the loop has muted reports. Returns whether the caller must unmute them at once.
    mutating func settleMuting() -> Bool {
        let isInVain = arrivalInterest == .mutingInVain
        if arrivalInterest == .muting { arrivalInterest = .nothing }
        if isInVain { arrivalInterest = .all }
        return isInVain
    }

    /// Records that everything was read. Returns whether the caller must ask the loop to report again.
    mutating func takeMuting() -> Bool {
        redundantEvents = 0
        let isMuted = arrivalInterest == .nothing
        if isMuted { arrivalInterest = .all }
        if arrivalInterest == .muting { arrivalInterest = .mutingInVain }
        return isMuted
    }
}

internal import CausewaySystem

// An edge-triggered event loop reports each packet. While the program's delivery queue reads continuously, these
// reports carry no new information, and each takes processor time from the reader: a stream at full speed would need 50
// % more.

extension Flow {
    /// Whether a stream receives arrival reports from its loop.
    enum ArrivalInterest: UInt8, Sendable {
        case all
        /// The flow is about to turn the reports off.
        case muting
        /// Like `muting`, but the reader already needs reports again. The flow turns them on right after it has turned
        /// them off.
        case mutingInVain
        case nothing
    }

    /// The number of consecutive arrival reports during a read after which the flow turns the reports off.
    static var redundantEventLimit: UInt8 { 2 }

    /// Turns arrival reports off until the reader has read everything. Called on the loop's thread.
    func mute(_ transport: Transport) {
        guard case .socket(let fd, let registration) = transport else { return }
        loop.update(registration, fd, for: Readiness.stream.subtracting(.readable))
        if state.withLock({ state in state.settleMuting() }) { loop.update(registration, fd, for: .stream) }
    }

    /// Turns arrival reports on again after the reader has emptied the transport.
    ///
    /// - Parameters:
    ///   - transport: The emptied transport.
    ///   - isMuted: The result of ``State/takeMuting()``.
    func awaitArrival(_ transport: Transport, isMuted: Bool) {
        guard case .socket(let fd, let registration) = transport else { return }
        // If bytes have arrived meanwhile, the loop reports them at once.
        if isMuted { loop.update(registration, fd, for: .stream) }
        loop.await(.readable, of: registration)
    }
}

extension Flow.State {
    /// Records an arrival report. Returns whether to turn reports off because a reader is always active.
    mutating func noteReport(_ readiness: Readiness) -> Bool {
        guard isReading || isReadPosted, arrivalInterest == .all, kind == .stream, phase == .open, closing == nil,
            readiness.touches(.readable), !readiness.touches(.ending), !readiness.touches(.failed)
        else { return false }
        redundantEvents &+= 1
        guard redundantEvents >= Flow.redundantEventLimit else { return false }
        arrivalInterest = .muting
        return true
    }

    /// Records that reports are off. Returns whether the caller must turn them on again at once.
    mutating func settleMuting() -> Bool {
        let isInVain = arrivalInterest == .mutingInVain
        if arrivalInterest == .muting { arrivalInterest = .nothing }
        if isInVain { arrivalInterest = .all }
        return isInVain
    }

    /// Records that all content was read. Returns whether reports were off; the caller must then turn them on again.
    mutating func takeMuting() -> Bool {
        redundantEvents = 0
        let isMuted = arrivalInterest == .nothing
        if isMuted { arrivalInterest = .all }
        if arrivalInterest == .muting { arrivalInterest = .mutingInVain }
        return isMuted
    }
}

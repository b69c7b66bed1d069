internal import CausewaySystem

// An event loop with edges tells of each packet. While a queue of the program's reads all that comes, those reports say nothing new,
// and each takes the processor from the reader for a moment: a stream at full speed would cost half as much again.

extension Flow {
    /// What is heard of a stream's arrivals.
    enum ArrivalInterest: UInt8, Sendable {
        case all
        /// The loop is about to be told.
        case muting
        /// The same, and the reader wants them again already.
        case mutingInVain
        case nothing
    }

    /// Reports in a row that came while somebody read, from which on they are not wanted.
    static var redundantEventLimit: UInt8 { 2 }

    /// Has the loop tell no more of arrivals, until the reader has read all. On the loop's thread.
    func mute(_ transport: Transport) {
        guard case .socket(let fd, let registration) = transport else { return }
        loop.update(registration, fd, for: Readiness.stream.subtracting(.readable))
        if state.withLock({ state in state.settleMuting() }) { loop.update(registration, fd, for: .stream) }
    }

    /// The reader has read all there was: it wants to hear of more.
    ///
    /// - Parameter isMuted: What ``State/takeMuting()`` said.
    func awaitArrival(_ transport: Transport, isMuted: Bool) {
        guard case .socket(let fd, let registration) = transport else { return }
        // What has come meanwhile is told at once.
        if isMuted { loop.update(registration, fd, for: .stream) }
        loop.await(.readable, of: registration)
    }
}

extension Flow.State {
    /// An arrival is reported. Returns whether to hear of no more, because somebody reads all the time.
    mutating func noteReport(_ readiness: Readiness) -> Bool {
        guard isReading || isReadPosted, arrivalInterest == .all, kind == .stream, phase == .open, closing == nil,
            readiness.touches(.readable), !readiness.touches(.ending), !readiness.touches(.failed)
        else { return false }
        redundantEvents &+= 1
        guard redundantEvents >= Flow.redundantEventLimit else { return false }
        arrivalInterest = .muting
        return true
    }

    /// The loop was told. Returns whether it must be told the contrary.
    mutating func settleMuting() -> Bool {
        let isInVain = arrivalInterest == .mutingInVain
        if arrivalInterest == .muting { arrivalInterest = .nothing }
        if isInVain { arrivalInterest = .all }
        return isInVain
    }

    /// All was read. Returns whether the caller must tell the loop to report again.
    mutating func takeMuting() -> Bool {
        redundantEvents = 0
        let isMuted = arrivalInterest == .nothing
        if isMuted { arrivalInterest = .all }
        if arrivalInterest == .muting { arrivalInterest = .mutingInVain }
        return isMuted
    }
}

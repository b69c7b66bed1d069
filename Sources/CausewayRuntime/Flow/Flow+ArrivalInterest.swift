internal import CausewaySystem

extension Flow {
    /// Turns off the loop's arrival reports until the reader has read everything. Called on the loop's thread.
    func mute(_ transport: Transport) {
        guard case .socket(let fd, let registration) = transport else { return }
        loop.update(registration, fd, for: Readiness.stream.subtracting(.readable))
        if state.withLock({ state in state.reading.reports.turnedOff() }) {
            loop.update(registration, fd, for: .stream)
        }
    }

    /// Turns arrival reports on again after the reader has read all bytes from the transport.
    ///
    /// - Parameters:
    ///   - transport: The emptied transport.
    ///   - isMuted: The result of ``ArrivalReports/wasReadOut()``.
    func awaitArrival(_ transport: Transport, isMuted: Bool) {
        guard case .socket(let fd, let registration) = transport else { return }
        // Bytes may have arrived since the reader emptied the transport. In that case, the loop reports them at once.
        if isMuted { loop.update(registration, fd, for: .stream) }
        loop.await(.readable, of: registration)
    }
}

extension Flow.State {
    /// Records a readiness report from the loop. Returns whether to turn arrival reports off. They are not needed if a
    /// reader is always active.
    mutating func mustMute(after readiness: Readiness) -> Bool {
        guard reading.isReading || reading.isPosted, kind == .stream, link.isOpen, readiness.touches(.readable),
            !readiness.touches(.ending), !readiness.touches(.failed)
        else { return false }
        return reading.reports.wasRedundant()
    }
}
